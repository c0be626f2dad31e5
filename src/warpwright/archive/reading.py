"""Loads runs, candidates and records."""

from __future__ import annotations

import difflib
from collections.abc import Iterable, Iterator, Sequence
from typing import Any

from sqlalchemy import Connection, RowMapping, select

from warpwright.archive.database.schema import CANDIDATES, RECORDS, RUNS
from warpwright.archive.kinds import KINDS, storable
from warpwright.core.candidate import Candidate
from warpwright.core.codec import CodecError, loads
from warpwright.core.errors import OurFault, UsageError
from warpwright.core.records.evidence import Fault
from warpwright.core.records.search import Run

PAGE = 500
"""Rows read at a time, and ids per query: SQLite limits the variables of a statement."""


def all_runs(connection: Connection) -> tuple[Run, ...]:
    rows = connection.execute(select(RUNS.c.id, RUNS.c.body).order_by(RUNS.c.at, RUNS.c.id))
    return tuple(read(Run, row.body, f"run {row.id}") for row in rows)


def run_named(connection: Connection, name: str) -> Run:
    """Finds a run by its id, or by an unambiguous prefix."""
    ids = _ids(connection)
    found = [name] if name in ids else [known for known in ids if known.startswith(name)]
    if not found:
        raise unknown_run(connection, name)
    if len(found) > 1:
        raise UsageError(f"'{name}' is the beginning of several runs: {_listed(found)}")
    body = connection.execute(select(RUNS.c.body).where(RUNS.c.id == found[0])).scalar_one()
    run: Run = read(Run, body, f"run {found[0]}")
    return run


def unknown_run(connection: Connection, name: str) -> UsageError:
    ids = _ids(connection)
    if not ids:
        return UsageError(f"there is no run '{name}': the archive is empty")
    nearest = difflib.get_close_matches(name, ids, n=1, cutoff=0.0)
    return UsageError(f"there is no run '{name}'; the nearest is {nearest[0]}")


def _ids(connection: Connection) -> Sequence[str]:
    return connection.execute(select(RUNS.c.id).order_by(RUNS.c.at, RUNS.c.id)).scalars().all()


def _listed(names: list[str]) -> str:
    return ", ".join(names[:5]) + (f" and {len(names) - 5} more" if len(names) > 5 else "")


def check_run(connection: Connection, run: str) -> None:
    if connection.execute(select(RUNS.c.id).where(RUNS.c.id == storable(run))).first() is None:
        raise unknown_run(connection, run)


def candidate_rows(connection: Connection, ids: Iterable[str]) -> list[RowMapping]:
    """Loads the rows of those candidates that exist, by id."""
    wanted = sorted({storable(name) for name in ids})
    rows: list[RowMapping] = []
    for start in range(0, len(wanted), PAGE):
        chosen = CANDIDATES.c.id.in_(wanted[start : start + PAGE])
        rows += connection.execute(select(CANDIDATES).where(chosen).order_by(CANDIDATES.c.id)).mappings()
    return rows


def candidates(connection: Connection, ids: Iterable[str]) -> dict[str, Candidate]:
    """Loads candidates in the given order; a missing one is a UsageError."""
    wanted = tuple(dict.fromkeys(ids))
    found = {row["id"]: row["body"] for row in candidate_rows(connection, wanted)}
    if missing := [name for name in wanted if name not in found]:
        raise UsageError(f"there is no candidate {missing[0]} in the archive")
    return {name: read(Candidate, found[name], f"candidate {name}") for name in wanted}


def page(connection: Connection, run: str, after: int, kind: str | None = None) -> Sequence[RowMapping]:
    """Loads the next records of a run, of all kinds or of one."""
    columns = (RECORDS.c.number, RECORDS.c.kind, RECORDS.c.body, RECORDS.c.at)
    wanted = select(*columns).where(RECORDS.c.run == run, RECORDS.c.number > after)
    if kind is not None:
        wanted = wanted.where(RECORDS.c.kind == kind)
    return connection.execute(wanted.order_by(RECORDS.c.number).limit(PAGE)).mappings().all()


def all_rows(connection: Connection, run: str, kind: str | None = None) -> Iterator[RowMapping]:
    rows = page(connection, run, 0, kind)
    while rows:
        yield from rows
        rows = page(connection, run, rows[-1]["number"], kind)


def record_in(run: str, row: RowMapping) -> Any:
    where = f"record {row['number']} of run {run}"
    if row["kind"] not in KINDS:
        raise _unreadable(where, f"a {row['kind']} is nothing this version knows")
    return read(KINDS[row["kind"]], row["body"], where)


def read(kind: Any, body: str, where: str) -> Any:
    try:
        return loads(kind, body)
    except CodecError as error:
        raise _unreadable(where, str(error)) from None


def _unreadable(where: str, problem: str) -> OurFault:
    message = f"{where} cannot be read, perhaps because a newer Warpwright wrote it: {problem}"
    return OurFault(Fault(where="archive", message=message))
