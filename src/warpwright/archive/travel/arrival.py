"""Reads a run from a file of JSON lines. The file may come from anywhere, so everything in it is checked."""

from __future__ import annotations

import json
from collections.abc import Iterator
from dataclasses import dataclass
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

from warpwright.archive.kinds import KINDS, Row, check_run_id, row_of
from warpwright.core.candidate import Candidate
from warpwright.core.codec import CodecError, decode, dumps
from warpwright.core.errors import OurFault, UsageError
from warpwright.core.records.search import Run

FORMAT = 1


@dataclass(frozen=True, slots=True, kw_only=True)
class Log:
    """A whole run, each entry with the time at which it was first stored."""

    source: Path
    run: Run
    at: str
    candidates: tuple[tuple[Candidate, str], ...]
    records: tuple[tuple[Row, str], ...]


@dataclass(frozen=True, slots=True, kw_only=True)
class _Line:
    source: Path
    number: int
    data: dict[str, Any]

    def error(self, problem: str) -> UsageError:
        return UsageError(f"{self.source}, line {self.number}: {problem}")

    @property
    def at(self) -> str:
        try:
            return datetime.fromisoformat(self.data["at"]).astimezone(UTC).isoformat(timespec="microseconds")
        except (KeyError, TypeError, ValueError, OverflowError):
            raise self.error("'at' is not a time") from None

    def value(self, key: str, kind: Any) -> Any:
        try:
            found = decode(kind, self.data[key], key)
            dumps(found)
        except (CodecError, RecursionError) as error:
            raise self.error(str(error)) from None
        return found

    def row(self) -> Row:
        kind = self.data.get("kind")
        if not isinstance(kind, str) or kind not in KINDS:
            raise self.error(f"{kind!r:.40} is no kind of record")
        try:
            return row_of(self.value("record", KINDS[kind]))
        except OurFault as error:
            raise self.error(error.fault.message) from None


def read_log(source: Path) -> Log:
    lines = list(_lines(source))
    first, body, last = lines[0], lines[1:-1], lines[-1]
    if "run" not in first.data:
        raise first.error("not the log of a run")
    if first.data.get("log") != FORMAT:
        raise first.error(f"a log of the form {first.data.get('log')!r:.20}; this version reads {FORMAT}")
    candidates = [line for line in body if "candidate" in line.data]
    records = [line for line in body if "record" in line.data]
    if last.data != {"candidates": len(candidates), "records": len(records)}:
        raise last.error("the file was cut off: its last line does not count what comes before it")
    run = first.value("run", Run)
    check_run_id(run.id)
    return Log(
        source=source,
        run=run,
        at=first.at,
        candidates=tuple((line.value("candidate", Candidate), line.at) for line in candidates),
        records=tuple((line.row(), line.at) for line in records),
    )


def _lines(source: Path) -> Iterator[_Line]:
    for number, text in enumerate(_text(source).removesuffix("\n").split("\n"), start=1):
        try:
            data = json.loads(text)
        except (ValueError, RecursionError):
            raise UsageError(f"{source}, line {number}: not JSON") from None
        if not isinstance(data, dict):
            raise UsageError(f"{source}, line {number}: not a JSON object")
        yield _Line(source=source, number=number, data=data)


def _text(source: Path) -> str:
    try:
        return source.read_text(encoding="utf-8")
    except (OSError, UnicodeDecodeError) as error:
        raise UsageError(f"{source} cannot be read: {error}") from None
