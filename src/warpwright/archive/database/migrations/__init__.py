"""Versions of the tables, for alembic. A released version never changes; new ones are added.

env.py      the environment in which alembic runs them
versions/   one file per version
"""
