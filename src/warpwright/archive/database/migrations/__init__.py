"""Versions of the tables, for alembic. A version that was released is never changed; a new one is added.

env.py      what alembic runs them in
versions/   one file per version
"""
