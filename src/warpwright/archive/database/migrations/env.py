"""Run by alembic in the transaction that migrate.py has opened."""

from __future__ import annotations

from alembic import context

from warpwright.archive.database.schema import VERSION_TABLE

context.configure(connection=context.config.attributes["connection"], version_table=VERSION_TABLE)
context.run_migrations()
