"""Writes a run as a file of JSON lines, exactly, so that it can be sent, replayed and compared.

{"log": 1, "at": ..., "run": {...}}             the first line
{"at": ..., "candidate": {...}}                 every candidate that the run refers to, by id
{"at": ..., "kind": ..., "record": {...}}       every record, in the order of appending
{"candidates": 3, "records": 17}                the last line, without which the file is truncated
"""

from __future__ import annotations

import json
from collections.abc import Iterator
from pathlib import Path

from sqlalchemy import Connection, select

from warpwright.archive import reading, writing
from warpwright.archive.database.schema import RUNS
from warpwright.archive.kinds import candidates_named
from warpwright.archive.travel.arrival import FORMAT, Log
from warpwright.archive.travel.whole_files import atomic_write
from warpwright.core.codec import dumps
from warpwright.core.errors import OurFault, UsageError


def write_log(connection: Connection, run: str, target: Path) -> None:
    with atomic_write(target) as part, open(part, "w", encoding="ascii") as file:
        file.writelines(f"{line}\n" for line in _lines(connection, run))


def _lines(connection: Connection, run: str) -> Iterator[str]:
    head = connection.execute(select(RUNS).where(RUNS.c.id == run)).mappings().one()
    yield dumps({"log": FORMAT, "at": head["at"], "run": json.loads(head["body"])})
    candidates = reading.candidate_rows(connection, _named(connection, run))
    for row in candidates:
        yield dumps({"at": row["at"], "candidate": json.loads(row["body"])})
    last = 0
    for row in reading.all_rows(connection, run):
        yield dumps({"at": row["at"], "kind": row["kind"], "record": json.loads(row["body"])})
        last = row["number"]
    yield dumps({"candidates": len(candidates), "records": last})


def _named(connection: Connection, run: str) -> set[str]:
    """Returns all candidates referred to, also those that only a decision names, possibly from earlier runs."""
    rows = reading.all_rows(connection, run)
    return {name for row in rows for name in candidates_named(reading.record_in(run, row))}


def import_run(connection: Connection, log: Log) -> None:
    """Imports a run. An existing run must agree with the file as far as both go; missing records are added."""
    run = log.run.id
    try:
        writing.begin(connection, log.run, log.at)
        for candidate, at in log.candidates:
            writing.keep(connection, candidate, at)
        known = [(row["kind"], row["body"]) for row in reading.all_rows(connection, run)]
        for (kind, body), (record, _) in zip(known, log.records, strict=False):
            if (kind, body) != (record.kind, record.body):
                raise UsageError(f"{log.source} and the archive disagree about run {run}")
        for record, at in log.records[len(known) :]:
            if not writing.append(connection, run, record, at):
                raise UsageError(f"{log.source} holds a {record.kind} of run {run} twice")
    except OurFault as error:
        raise UsageError(f"{log.source} does not hold together: {error.fault.message}") from None
