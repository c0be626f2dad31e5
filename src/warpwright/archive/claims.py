"""Lets only one process at a time drive a run. The claim of a process that dies is released.

A file is locked by the operating system, a server by an advisory lock of the session; neither lock outlives its
process.
"""

from __future__ import annotations

import contextlib
import fcntl
import os
import socket
from collections.abc import Iterator
from contextlib import AbstractContextManager
from pathlib import Path
from typing import IO, Protocol

from sqlalchemy import Connection, text
from sqlalchemy.exc import SQLAlchemyError

from warpwright.archive.database.connections import Connections
from warpwright.archive.database.engine import lock_folder
from warpwright.archive.database.faults import as_archive_errors
from warpwright.core.errors import OurFault, UsageError
from warpwright.core.records.evidence import Fault


class Claims(Protocol):
    def hold(self, run: str) -> AbstractContextManager[None]: ...

    def confirm(self, connection: Connection, run: str) -> None:
        """Raises OurFault if this archive held the run and has lost the claim."""


def _refused(run: str, holder: str | None) -> UsageError:
    return UsageError(f"run {run} is in use by {holder or 'another process'}; wait for it or stop it")


def _holder_name() -> str:
    return f"process {os.getpid()} on {socket.gethostname()}"


class FileClaims:
    def __init__(self, path: Path) -> None:
        self._path = path

    @contextlib.contextmanager
    def hold(self, run: str) -> Iterator[None]:
        with self._opened(run) as file:
            try:
                fcntl.flock(file, fcntl.LOCK_EX | fcntl.LOCK_NB)
            except BlockingIOError:
                raise _refused(run, file.read().decode("utf-8", "replace").strip()) from None
            _write_holder(file, _holder_name())
            try:
                yield
            finally:
                _write_holder(file, "")

    def confirm(self, connection: Connection, run: str) -> None:
        """Does nothing: the operating system does not revoke locks."""

    def _opened(self, run: str) -> IO[bytes]:
        try:
            # append mode: opening for writing would erase the holder's name
            file = (lock_folder(self._path) / f"run-{run}").open("a+b", buffering=0)
        except OSError as error:
            raise UsageError(f"run {run} cannot be claimed beside {self._path}: {error.strerror}") from None
        file.seek(0)
        return file


def _write_holder(file: IO[bytes], holder: str) -> None:
    """Writes the holder's name into the lock file. Only the lock counts: on a full disk the name is omitted."""
    with contextlib.suppress(OSError):
        file.truncate(0)
        file.write(holder.encode("utf-8", "replace"))


# The key contains the schema, since one database may hold several archives.
_KEY = "hashtextextended('warpwright run ' || current_schema() || '.' || :run, 0)"
_TAKE = text(f"SELECT pg_try_advisory_lock({_KEY}), pg_backend_pid()")
_FREE = text(f"SELECT pg_advisory_unlock({_KEY})")
_HOLDER = text(
    "SELECT activity.pid, activity.application_name FROM pg_locks AS locks"
    " JOIN pg_stat_activity AS activity ON activity.pid = locks.pid"
    " WHERE locks.locktype = 'advisory' AND locks.granted AND locks.objsubid = 1"
    " AND locks.database = (SELECT oid FROM pg_database WHERE datname = current_database())"
    f" AND (locks.classid::bigint << 32 | locks.objid::bigint) = {_KEY}"
)


def _release(session: Connection, run: str) -> None:
    """Releases the lock before the connection closes, which a server notices only later. A broken session holds
    none.
    """
    with contextlib.suppress(SQLAlchemyError):
        session.execute(_FREE, {"run": run})


class ServerClaims:
    def __init__(self, connections: Connections) -> None:
        self._connections = connections
        self._sessions: dict[str, int] = {}

    @contextlib.contextmanager
    def hold(self, run: str) -> Iterator[None]:
        with self._session() as session:
            self._take(session, run)
            try:
                yield
            finally:
                del self._sessions[run]
                _release(session, run)

    def confirm(self, connection: Connection, run: str) -> None:
        """Raises OurFault if the session broke: its lock is released, and another process may be driving the run."""
        mine = self._sessions.get(run)
        if mine is None:
            return
        holder = connection.execute(_HOLDER, {"run": run}).first()
        if holder is None or holder.pid != mine:
            message = f"the claim on run {run} was lost with the connection that held it"
            raise OurFault(Fault(where=f"archive {self._connections.place}", message=message, retryable=True))

    @contextlib.contextmanager
    def _session(self) -> Iterator[Connection]:
        """Opens a separate connection, whose end releases the lock, however the process ends."""
        with as_archive_errors(self._connections.place):
            session = self._connections.engine.connect().execution_options(isolation_level="AUTOCOMMIT")
            session.detach()
        with session:
            yield session

    def _take(self, session: Connection, run: str) -> None:
        with as_archive_errors(self._connections.place):
            session.execute(text("SELECT set_config('application_name', :name, false)"), {"name": _holder_name()})
            taken, mine = session.execute(_TAKE, {"run": run}).one()
            if not taken:
                holder = session.execute(_HOLDER, {"run": run}).first()
                raise _refused(run, holder.application_name if holder else None)
            self._sessions[run] = mine
