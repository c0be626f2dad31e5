"""Connections with durable commits: SQLite with a synced write-ahead log, PostgreSQL with synchronous commits."""

from __future__ import annotations

import fcntl
from functools import partial
from pathlib import Path
from typing import Any

from sqlalchemy import URL, Connection, Engine, create_engine, event

from warpwright.core.errors import UsageError

BUSY_S = 60
"""Seconds that a writer waits for others before it gives up."""
_SERVER = (
    # Some servers acknowledge a commit before it is written.
    "SELECT set_config('synchronous_commit', 'on', false) WHERE current_setting('synchronous_commit') = 'off'",
    # The lock of a machine that lost power must not persist for hours.
    "SET tcp_keepalives_idle = 30",
    "SET tcp_keepalives_interval = 10",
    "SET tcp_keepalives_count = 3",
)


def engine_for(place: Path | URL) -> Engine:
    return _file_engine(place) if isinstance(place, Path) else _server_engine(place)


def for_writing(engine: Engine) -> Engine:
    """Returns the engine for transactions that write: SQLite then takes the write lock at once."""
    return engine.execution_options(writes=True)


def for_reading(engine: Engine) -> Engine:
    """Returns the engine for transactions that read repeatedly: PostgreSQL would otherwise show newer data each
    time.
    """
    return engine.execution_options(isolation_level="REPEATABLE READ") if engine.name == "postgresql" else engine


def lock_folder(path: Path) -> Path:
    """Creates the folder beside the archive whose locked files represent the resources that they name."""
    folder = path.with_name(f"{path.name}.locks")
    folder.mkdir(parents=True, exist_ok=True)
    return folder


def _file_engine(path: Path) -> Engine:
    # Python's own transactions are disabled (isolation_level=None), since they begin too late for BEGIN IMMEDIATE.
    # Threads wait for the write lock rather than for a connection, so connections are not limited.
    engine = create_engine(
        URL.create("sqlite", database=str(path)),
        connect_args={"timeout": BUSY_S, "isolation_level": None},
        max_overflow=-1,
    )
    event.listen(engine, "connect", partial(_prepare_file, path))
    event.listen(engine, "begin", _begin_file)
    return engine


def _prepare_file(path: Path, connection: Any, _: Any) -> None:
    _use_write_ahead_log(path, connection)
    for setting in ("synchronous = FULL", "fullfsync = ON", "foreign_keys = ON"):
        connection.execute(f"PRAGMA {setting}")


def _use_write_ahead_log(path: Path, connection: Any) -> None:
    """Switches a file to a write-ahead log, once. Without a lock, processes doing so at the same time would fail."""
    if connection.execute("PRAGMA journal_mode").fetchone() != ("wal",):
        with open(lock_folder(path) / "opening", "w") as turn:
            fcntl.flock(turn, fcntl.LOCK_EX)
            connection.execute("PRAGMA journal_mode = WAL")


def _begin_file(connection: Connection) -> None:
    connection.exec_driver_sql("BEGIN IMMEDIATE" if connection.get_execution_options().get("writes") else "BEGIN")


def _server_engine(url: URL) -> Engine:
    wanted = {"connect_timeout": 10, "application_name": "warpwright", "client_encoding": "utf8"}
    try:
        engine = create_engine(
            url,
            connect_args={name: value for name, value in wanted.items() if name not in url.query},
            pool_pre_ping=True,
            pool_timeout=BUSY_S,
        )
    except ImportError:
        raise UsageError("an archive in PostgreSQL needs psycopg: pip install 'warpwright[postgres]'") from None
    event.listen(engine, "connect", _prepare_session)
    return engine


def _prepare_session(connection: Any, _: Any) -> None:
    connection.autocommit = True
    for statement in (*_SERVER, f"SET lock_timeout = '{BUSY_S}s'"):
        connection.execute(statement)
    connection.autocommit = False
