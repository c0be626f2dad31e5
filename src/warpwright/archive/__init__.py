"""Room 2, what was learnt: an append-only archive of runs, in SQLite by default, in PostgreSQL by URL.

opening.py       open_archive: the one way in
store.py         Archive: what can be asked of it
kinds.py         which records there are, what tells them apart, what can be asked of them in SQL
schema.py        the tables
migrate.py       an archive of any age brought up to date
migrations/      one file per version of the tables
address.py       where an archive lies: a path, a URL, the user's data folder
engine.py        connections that keep what they acknowledge
connections.py   one transaction per thread, joined by whatever is done inside it
faults.py        errors of a database as one sentence
writing.py       runs, candidates and records put in
reading.py       runs, candidates and records taken out
claims.py        one process drives a run at a time
memory.py        lessons and scores of earlier runs, found by plain text
travel.py        a run written as a file of JSON lines, exact, and taken in again
arrival.py       such a file, read and checked
whole_files.py   files that are there whole or not at all
columns.py       the columns of the dataset and their types
rows.py          one row per proposal, with all that became of it
export.py        the dataset as JSON lines or Parquet
"""
