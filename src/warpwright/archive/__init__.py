"""Room 2, what was learnt: an append-only archive of runs, in SQLite by default, in PostgreSQL by URL.

opening.py  open_archive: the one way in
store.py    Archive: what can be asked of it
kinds.py    which records there are, what tells them apart, what can be asked of them in SQL
writing.py  runs, candidates and records put in
reading.py  runs, candidates and records taken out
claims.py   one process drives a run at a time
memory.py   lessons and scores of earlier runs, found by plain text
database/   The database and its versions
dataset/    The dataset that an archive exports
travel/     A run as a file
"""
