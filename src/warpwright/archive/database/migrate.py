"""Brings an older archive up to date in one transaction."""

from __future__ import annotations

import threading
from typing import TYPE_CHECKING

from sqlalchemy import Connection, inspect, text

from warpwright.archive.database.schema import METADATA, VERSION, VERSION_TABLE
from warpwright.core.errors import UsageError

if TYPE_CHECKING:
    from alembic.config import Config

_ALEMBIC = threading.Lock()
"""Alembic keeps its state in module globals."""
_ONE_AT_A_TIME = 0x77617270
"""The key of the advisory lock for migrations in PostgreSQL."""


def is_current(connection: Connection, place: str) -> bool:
    return _version(connection, place) == VERSION


def bring_up_to_date(connection: Connection, place: str) -> None:
    """Migrates inside a writing transaction. If another process was faster, there is nothing to do."""
    if connection.dialect.name == "postgresql":
        connection.execute(text("SELECT pg_advisory_xact_lock(:key)"), {"key": _ONE_AT_A_TIME})
    version = _version(connection, place)
    if version != VERSION:
        with _ALEMBIC:
            _upgrade(connection, version, place)


def _version(connection: Connection, place: str) -> str | None:
    """Returns the version of an archive; None for an empty database. A database with other contents is refused."""
    tables = set(inspect(connection).get_table_names())
    if VERSION_TABLE in tables:
        found = connection.execute(text(f"SELECT version_num FROM {VERSION_TABLE}")).scalar()
        return None if found is None else str(found)
    # A server's database may have other tables besides ours; a file with other tables is not an archive.
    others = tables if connection.dialect.name == "sqlite" else tables & set(METADATA.tables)
    if others:
        raise UsageError(f"{place} is a database with other tables ({sorted(others)[0]}); give another place")
    return None


def _upgrade(connection: Connection, version: str | None, place: str) -> None:
    from alembic import command
    from alembic.script import ScriptDirectory

    config = _config(connection)
    known = {script.revision for script in ScriptDirectory.from_config(config).walk_revisions()}
    if version is not None and version not in known:
        raise UsageError(f"{place} was written by a newer Warpwright (version {version}); update Warpwright to open it")
    command.upgrade(config, "head")


def _config(connection: Connection) -> Config:
    from alembic.config import Config

    config = Config()
    config.set_main_option("script_location", "warpwright.archive.database:migrations")
    config.attributes["connection"] = connection
    return config
