"""The database and its versions.

schema.py       the tables
migrate.py      brings an older archive up to date
address.py      the location of an archive: a path, a URL, the user's data folder
engine.py       connections with durable commits
connections.py  one transaction per thread, joined by nested calls
faults.py       database errors as one sentence
migrations/     one file per version of the tables
"""
