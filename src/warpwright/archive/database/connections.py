"""One transaction per thread, joined by nested calls."""

from __future__ import annotations

import contextlib
import os
import threading
from collections.abc import Iterator

from sqlalchemy import Connection, Engine
from sqlalchemy.exc import SQLAlchemyError

from warpwright.archive.database.engine import for_reading, for_writing
from warpwright.archive.database.faults import as_archive_errors
from warpwright.core.errors import OurFault
from warpwright.core.records.evidence import Fault


class Connections:
    def __init__(self, engine: Engine, place: str) -> None:
        self.engine, self.place = engine, place
        self._process = os.getpid()
        self._local = threading.local()

    @contextlib.contextmanager
    def writing(self) -> Iterator[Connection]:
        """Opens a transaction, or joins that of this thread; it is durable when the outermost one ends."""
        self._check_process()
        if (joined := self._joined) is not None:
            with self._watched():
                yield joined
            return
        with as_archive_errors(self.place), for_writing(self.engine).begin() as connection, self._opened(connection):
            yield connection

    @contextlib.contextmanager
    def reading(self) -> Iterator[Connection]:
        """Opens a consistent view, or joins the transaction of this thread and sees what it has written."""
        self._check_process()
        if self._joined is not None:
            with self.writing() as joined:
                yield joined
            return
        with as_archive_errors(self.place), for_reading(self.engine).begin() as connection:
            yield connection

    def close(self) -> None:
        self.engine.dispose()

    @property
    def _joined(self) -> Connection | None:
        return getattr(self._local, "connection", None)

    @contextlib.contextmanager
    def _opened(self, connection: Connection) -> Iterator[None]:
        self._local.connection, self._local.failure = connection, None
        try:
            yield
            # A database may have rolled back after an error that was caught since. A commit would then succeed and
            # store nothing.
            if self._local.failure is not None:
                raise self._local.failure
        finally:
            self._local.connection = self._local.failure = None

    @contextlib.contextmanager
    def _watched(self) -> Iterator[None]:
        with as_archive_errors(self.place):
            try:
                yield
            except SQLAlchemyError as error:
                self._local.failure = error
                raise

    def _check_process(self) -> None:
        """Raises OurFault after a fork: neither database can be shared between parent and child."""
        if os.getpid() != self._process:
            message = "opened in another process; after a fork, open it anew"
            raise OurFault(Fault(where=f"archive {self.place}", message=message))
