"""Reads files of JSON lines into records. Blank lines are skipped."""

from __future__ import annotations

from pathlib import Path
from typing import TypeVar

from warpwright.core.codec import CodecError, loads
from warpwright.core.errors import UsageError

Record = TypeVar("Record")


def read_lines(file: Path, kind: type[Record], *, torn_end: bool = False) -> list[Record]:
    """Reads all records; a UsageError names the line that does not fit. With `torn_end` a truncated last line is
    skipped.
    """
    try:
        text = file.read_text(encoding="utf-8")
    except (OSError, UnicodeDecodeError) as error:
        reason = error.strerror if isinstance(error, OSError) else "it is not UTF-8 text"
        raise UsageError(f"{file} cannot be read: {reason}") from None
    lines = text.split("\n")
    records: list[Record] = []
    for number, line in enumerate(lines, start=1):
        try:
            if line.strip():
                records.append(loads(kind, line))
        except CodecError as error:
            if not (torn_end and number == len(lines)):
                raise UsageError(f"{file}, line {number}: {error}") from None
    return records
