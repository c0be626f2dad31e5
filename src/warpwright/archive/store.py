"""The archive's interface. Opened by `open_archive`; safe to use from many threads and processes."""

from __future__ import annotations

import contextlib
from collections.abc import Iterable, Iterator
from pathlib import Path

from warpwright.archive import memory, reading, writing
from warpwright.archive.claims import Claims
from warpwright.archive.database.connections import Connections
from warpwright.archive.kinds import R, name_of, row_of
from warpwright.archive.memory import Memory
from warpwright.archive.travel import run_file as travel
from warpwright.archive.travel.arrival import read_log
from warpwright.core.candidate import Candidate
from warpwright.core.records.search import Record, Run


class Archive:
    def __init__(self, connections: Connections, claims: Claims) -> None:
        self._connections, self._claims = connections, claims

    def begin(self, run: Run) -> None:
        """Stores a run. Storing the same run again has no effect; a different run with this id is a UsageError."""
        with self._connections.writing() as connection:
            writing.begin(connection, run, writing.now())

    def runs(self) -> tuple[Run, ...]:
        """Returns all runs, oldest first."""
        with self._connections.reading() as connection:
            return reading.all_runs(connection)

    def run(self, name: str) -> Run:
        """Finds a run by its id, or by an unambiguous prefix."""
        with self._connections.reading() as connection:
            return reading.run_named(connection, name)

    def keep(self, candidate: Candidate) -> None:
        """Stores a candidate; this must precede every record that refers to it."""
        with self._connections.writing() as connection:
            writing.keep(connection, candidate, writing.now())

    def candidate(self, id: str) -> Candidate:
        return self.candidates((id,))[id]

    def candidates(self, ids: Iterable[str]) -> dict[str, Candidate]:
        with self._connections.reading() as connection:
            return reading.candidates(connection, ids)

    def append(self, run: str, record: Record) -> bool:
        """Appends a record, durably when it returns (in a transaction: when that ends). False if it was stored already.

        A different record with the same natural key is OurFault. After a lost connection it is safe to append again.
        """
        row = row_of(record)
        with self._connections.writing() as connection:
            self._claims.confirm(connection, run)
            return writing.append(connection, run, row, writing.now())

    def records(self, run: str, kind: type[R]) -> tuple[R, ...]:
        """Returns the records of one kind, in the order of appending."""
        name = name_of(kind)
        with self._connections.reading() as connection:
            reading.check_run(connection, run)
            return tuple(reading.record_in(run, row) for row in reading.all_rows(connection, run, name))

    def log(self, run: str) -> Iterator[Record]:
        """Yields records of all kinds in the order of appending, page by page, so that a slow reader blocks no
        writer.
        """
        with self._connections.reading() as connection:
            reading.check_run(connection, run)
            rows = reading.page(connection, run, 0)
        while rows:
            yield from (reading.record_in(run, row) for row in rows)
            with self._connections.reading() as connection:
                rows = reading.page(connection, run, rows[-1]["number"])

    @contextlib.contextmanager
    def transaction(self) -> Iterator[None]:
        """Makes all writes of this thread inside atomic. Other writers wait, so keep it short."""
        with self._connections.writing():
            yield

    @contextlib.contextmanager
    def claim(self, run: str) -> Iterator[None]:
        """Claims the right to drive a run. A UsageError names the process that has it; the claim ends with its
        process.
        """
        with self._connections.reading() as connection:
            reading.check_run(connection, run)
        with self._claims.hold(run):
            yield

    def search(self, text: str, limit: int = 10) -> tuple[Memory, ...]:
        """Finds lessons and scored candidates of all runs that share words with the text, best matches first."""
        with self._connections.reading() as connection:
            return memory.search(connection, text, limit)

    def export_log(self, run: str, file: Path) -> None:
        """Writes a whole run, exactly, as JSON lines."""
        with self._connections.reading() as connection:
            reading.check_run(connection, run)
            travel.write_log(connection, run, file)

    def import_log(self, file: Path) -> Run:
        """Imports a file written by `export_log`, completely or not at all."""
        log = read_log(file)
        with self._claims.hold(log.run.id), self._connections.writing() as connection:
            travel.import_run(connection, log)
        return log.run

    def close(self) -> None:
        self._connections.close()

    def __enter__(self) -> Archive:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()
