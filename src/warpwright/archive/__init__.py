"""The room archive: an append-only archive of runs, in SQLite by default, in PostgreSQL by URL.

opening.py  open_archive, the only way to open one
store.py    Archive, the interface
kinds.py    the kinds of records, their keys, and their columns in SQL
writing.py  stores runs, candidates and records
reading.py  loads runs, candidates and records
claims.py   lets only one process at a time drive a run
memory.py   text search over lessons and scores of earlier runs
database/   the database and its versions
dataset/    the dataset that an archive exports
travel/     a run as a file
"""
