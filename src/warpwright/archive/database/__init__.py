"""The database and its versions.

schema.py       the tables
migrate.py      an archive of any age brought up to date
address.py      where an archive lies: a path, a URL, the user's data folder
engine.py       connections that keep what they acknowledge
connections.py  one transaction per thread, joined by whatever is done inside it
faults.py       errors of a database as one sentence
migrations/     one file per version of the tables
"""
