"""Exports an archive as JSON lines or Parquet, run by run."""

from __future__ import annotations

from collections.abc import Iterable
from pathlib import Path
from typing import Any

from warpwright.archive.dataset.columns import COLUMNS
from warpwright.archive.dataset.rows import rows
from warpwright.archive.kinds import storable
from warpwright.archive.store import Archive
from warpwright.archive.travel.whole_files import atomic_write
from warpwright.core.codec import dumps
from warpwright.core.errors import UsageError
from warpwright.core.records.search import Proposal

Rows = list[dict[str, Any]]
FORMATS = ("jsonl", "parquet")


def export(archive: Archive, format: str, target: Path, run: str | None = None) -> int:
    """Writes one row per proposal of one run or all runs, atomically, and returns the number of rows."""
    if format not in FORMATS:
        raise UsageError(f"'{format}' is no format; one of {', '.join(FORMATS)}")
    write = _write_lines if format == "jsonl" else _write_parquet
    chosen = archive.runs() if run is None else (archive.run(run),)
    with atomic_write(target) as part:
        return write(part, (_rows(archive, item.id) for item in chosen))


def _rows(archive: Archive, run: str) -> Rows:
    records = tuple(archive.log(run))
    named = {record.candidate for record in records if isinstance(record, Proposal) and record.candidate}
    made = rows(archive.run(run), records, archive.candidates(named))
    return [{name: row[name] for name in COLUMNS} for row in made]


def _write_lines(part: Path, tables: Iterable[Rows]) -> int:
    count = 0
    with open(part, "w", encoding="ascii") as file:
        for table in tables:
            file.writelines(f"{dumps(row)}\n" for row in table)
            count += len(table)
    return count


def _write_parquet(part: Path, tables: Iterable[Rows]) -> int:
    arrow = _arrow()
    schema = arrow.schema([(name, _type(arrow, kind)) for name, kind in COLUMNS.items()])
    count = 0
    with arrow.parquet.ParquetWriter(part, schema, compression="zstd") as writer:
        for table in tables:
            columns = {name: [_value(kind, row[name]) for row in table] for name, kind in COLUMNS.items()}
            writer.write_table(arrow.Table.from_pydict(columns, schema))
            count += len(table)
    return count


def _arrow() -> Any:
    try:
        import pyarrow  # type: ignore[import-untyped]
        import pyarrow.parquet  # type: ignore[import-untyped]
    except ImportError:
        raise UsageError("a Parquet file needs pyarrow: pip install 'warpwright[parquet]'") from None
    return pyarrow


def _type(arrow: Any, kind: Any) -> Any:
    match kind:
        case [item]:
            return arrow.list_(_type(arrow, item))
        case {**fields} if fields:
            return arrow.struct([(name, _type(arrow, item)) for name, item in fields.items()])
    if kind is dict:
        return arrow.map_(arrow.string(), arrow.int64())
    return {str: arrow.string(), int: arrow.int64(), float: arrow.float64(), bool: arrow.bool_()}[kind]


def _value(kind: Any, value: Any) -> Any:
    """Converts a value for Arrow: maps as pairs, text without characters that UTF-8 cannot encode."""
    if value is None:
        return None
    match kind:
        case [item]:
            return [_value(item, entry) for entry in value]
        case {**fields} if fields:
            return {name: _value(item, value[name]) for name, item in fields.items()}
    if kind is dict:
        return [(storable(name), count) for name, count in value.items()]
    return storable(value) if kind is str else value
