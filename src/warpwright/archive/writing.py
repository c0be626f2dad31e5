"""Stores runs, candidates and records. Nothing is ever changed or removed."""

from __future__ import annotations

from datetime import UTC, datetime
from typing import Any

from sqlalchemy import Connection, Table, func, select
from sqlalchemy.dialects.postgresql import insert as insert_on_server
from sqlalchemy.dialects.sqlite import insert as insert_in_file

from warpwright.archive.database.schema import BRIEFS, CANDIDATES, RECORDS, RUNS
from warpwright.archive.kinds import Row, check_run_id, plain, storable
from warpwright.archive.memory import words_of
from warpwright.archive.reading import unknown_run
from warpwright.core.candidate import Candidate
from warpwright.core.codec import dumps, loads
from warpwright.core.errors import OurFault, UsageError
from warpwright.core.records.evidence import Fault
from warpwright.core.records.search import Brief, Decision, Run


def now() -> str:
    return datetime.now(UTC).isoformat(timespec="microseconds")


def begin(connection: Connection, run: Run, at: str) -> None:
    check_run_id(run.id)
    body = dumps(loads(Run, dumps(run)))
    values = {"id": run.id, "task": storable(run.task), "started": storable(run.started), "body": body, "at": at}
    if not _inserted(connection, RUNS, values):
        known = connection.execute(select(RUNS.c.body).where(RUNS.c.id == run.id)).scalar_one()
        if known != body:
            raise UsageError(f"run {run.id} is in the archive already, with another task, seed or settings")


def keep(connection: Connection, candidate: Candidate, at: str) -> None:
    """Stores a candidate; its id is a hash of its content, so an existing one is the same."""
    gpu = storable(candidate.flags.gpu)
    _inserted(connection, CANDIDATES, {"id": candidate.id, "gpu": gpu, "body": dumps(candidate), "at": at})


def append(connection: Connection, run: str, row: Row, at: str) -> bool:
    """Appends a record; False if the same record is stored already. All checks precede the first write."""
    _take_turn(connection, run)
    if _is_there(connection, run, row):
        return False
    _check_candidate(connection, row)
    if row.kind == "decision":
        _add_briefs(connection, run, loads(Decision, row.body))
    last = connection.execute(select(func.max(RECORDS.c.number)).where(RECORDS.c.run == run)).scalar_one()
    values = {"run": run, "number": (last or 0) + 1, "kind": row.kind, "key": row.key, "body": row.body, "at": at}
    connection.execute(RECORDS.insert().values(**values, **row.columns, words=words_of(connection, run, row)))
    return True


def _add_briefs(connection: Connection, run: str, decision: Decision) -> None:
    rows = [_brief(run, decision, brief) for brief in decision.briefs]
    if rows:
        _check_briefs(connection, run, rows)
        connection.execute(BRIEFS.insert(), rows)


def _take_turn(connection: Connection, run: str) -> None:
    """Locks the run, so that record numbers have no gaps and readers see a prefix of the log."""
    if connection.execute(select(RUNS.c.id).where(RUNS.c.id == storable(run)).with_for_update()).first() is None:
        raise unknown_run(connection, run)


def _is_there(connection: Connection, run: str, row: Row) -> bool:
    same = (RECORDS.c.run == run, RECORDS.c.kind == row.kind, RECORDS.c.key == row.key)
    known = None if row.key is None else connection.execute(select(RECORDS.c.body).where(*same)).scalar()
    if known is not None and known != row.body:
        raise _fault(f"run {run} has another {row.kind} under the key {row.key}; records are never changed")
    return known is not None


def _check_candidate(connection: Connection, row: Row) -> None:
    name = row.columns.get("candidate")
    if name and connection.execute(select(CANDIDATES.c.id).where(CANDIDATES.c.id == name)).first() is None:
        raise _fault(f"a {row.kind} names candidate {name}, which was never kept")


def _check_briefs(connection: Connection, run: str, rows: list[dict[str, Any]]) -> None:
    numbers = [row["number"] for row in rows]
    if any(row[column.name] is None for row in rows for column in BRIEFS.c if not column.nullable):
        raise _fault(f"a brief of run {run} holds a number of more than 64 bits")
    same = (BRIEFS.c.run == run, BRIEFS.c.number.in_(numbers))
    taken = set(connection.execute(select(BRIEFS.c.number).where(*same)).scalars())
    twice = taken | {number for number in numbers if numbers.count(number) > 1}
    if twice:
        raise _fault(f"brief {min(twice)} of run {run} exists twice; brief numbers are unique")


def _brief(run: str, decision: Decision, brief: Brief) -> dict[str, Any]:
    values = {
        "run": run,
        "number": brief.number,
        "decision": decision.number,
        "generation": decision.generation,
        "operator": brief.operator.value,
        "model": brief.arm.model if brief.arm else None,
        "effort": brief.arm.effort if brief.arm else None,
        "temperature": brief.temperature,
        "island": brief.island,
        "hint": brief.hint,
    }
    return {name: plain(value) for name, value in values.items()}


def _inserted(connection: Connection, table: Table, values: dict[str, Any]) -> bool:
    """Inserts a row; False if the primary key exists already."""
    if connection.dialect.name == "sqlite":
        return connection.execute(insert_in_file(table).values(values).on_conflict_do_nothing()).rowcount == 1
    return connection.execute(insert_on_server(table).values(values).on_conflict_do_nothing()).rowcount == 1


def _fault(message: str) -> OurFault:
    return OurFault(Fault(where="archive", message=message))
