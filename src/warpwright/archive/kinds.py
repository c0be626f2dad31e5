"""The kinds of records, their natural keys, and their columns in SQL."""

from __future__ import annotations

import math
import re
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any, TypeVar, get_args

from warpwright.core.codec import CodecError, dumps, loads
from warpwright.core.errors import OurFault, UsageError
from warpwright.core.records.evidence import Dossier, Fault
from warpwright.core.records.judged import Judged
from warpwright.core.records.search import Call, Decision, Lesson, Prediction, Proposal, Record, Score, Session

R = TypeVar("R", Decision, Call, Proposal, Dossier, Judged, Prediction, Score, Lesson, Session)

_STORED_NAMES: Mapping[type, str] = {Session: "sitting"}
"""Names of kinds in archives that differ from the name of the class."""


def _stored_name(kind: type) -> str:
    return _STORED_NAMES.get(kind, kind.__name__.lower())


KINDS: dict[str, Any] = {_stored_name(kind): kind for kind in get_args(Record)}
_RUN_ID = re.compile(r"[A-Za-z0-9][A-Za-z0-9._-]{0,99}")
_WHOLE = 2**63
"""Columns hold 64 bits; the body of a record holds any number."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Row:
    """A record as stored in the archive. The body is exact; the columns serve queries."""

    kind: str
    key: str | None
    """The natural key as JSON, unique per run and kind; None for records that are always appended."""
    body: str
    columns: Mapping[str, Any] = field(default_factory=dict)


def check_run_id(name: str) -> None:
    """Checks a run id, which users type and files are named by."""
    if not _RUN_ID.fullmatch(name):
        raise UsageError(f"{name!r:.60} cannot be the id of a run; use letters, digits, '.', '_' and '-'")


def name_of(kind: type) -> str:
    name = _stored_name(kind)
    if KINDS.get(name) is not kind:
        raise OurFault(Fault(where="archive", message=f"{kind.__name__} is no kind of record"))
    return name


def row_of(record: Record) -> Row:
    """Encodes a record and checks that it can be decoded again, before it is stored."""
    kind = name_of(type(record))
    try:
        record = loads(type(record), dumps(record))
    except CodecError as error:
        raise OurFault(Fault(where="archive", message=f"a {kind} cannot be stored: {error}")) from None
    key = natural_key(record)
    columns = {name: plain(value) for name, value in _columns(record).items()}
    return Row(kind=kind, key=None if key is None else dumps(key), body=dumps(record), columns=columns)


def natural_key(record: Record) -> Any:
    """Returns the key that distinguishes records of one kind in the same run."""
    match record:
        case Decision():
            return record.number
        case Call():
            return record.id
        case Proposal():
            return record.brief
        case Dossier():
            return record.candidate
        case Judged():
            return record.job
        case Prediction():
            return [record.candidate, record.case, record.gpu]
        case Score():
            return [record.candidate, record.basis]
        case Lesson():
            return record.decision
    return None


def _columns(record: Record) -> dict[str, Any]:
    match record:
        case Call():
            return {"brief": record.brief, "model": record.model, "cost_usd": record.cost_usd}
        case Proposal():
            return {"brief": record.brief, "candidate": record.candidate}
        case Dossier():
            return _verdict(record)
        case Judged():
            whole = Dossier(
                candidate=record.candidate, task=record.task, evidence=record.evidence, faults=record.faults
            )
            return _verdict(whole) | {"gpu": _gpu(record)}
        case Prediction():
            return {"candidate": record.candidate, "gpu": record.gpu}
        case Score():
            return {"candidate": record.candidate, "basis": record.basis.value, "score": record.value}
    return {}


def _verdict(dossier: Dossier) -> dict[str, Any]:
    refutation = dossier.refutation
    return {
        "candidate": dossier.candidate,
        "verdict": dossier.verdict.value,
        "rung": refutation.rung if refutation else None,
    }


def _gpu(judged: Judged) -> str | None:
    """Returns the GPU of the judge, from the first record that names it."""
    scenes = [item.scene for item in judged.measurements] + [item.scene for item in judged.evidence]
    return next((scene.gpu for scene in scenes if scene and scene.gpu), None)


def plain(value: Any) -> Any:
    """Converts a value to one that every database stores; None if only the body can hold it."""
    match value:
        case str():
            return storable(value)
        case float():
            return value if math.isfinite(value) else None
        case int():
            return value if -_WHOLE <= value < _WHOLE else None
    return value


def storable(text: str) -> str:
    """Replaces characters that PostgreSQL (NUL) or UTF-8 (lone surrogates) cannot store; models do produce them."""
    return text.replace("\0", "\ufffd").encode("utf-8", "replace").decode("utf-8")


def candidates_named(record: Record) -> set[str]:
    """Returns every candidate that a record refers to."""
    match record:
        case Decision():
            briefs = [(*brief.parents, *brief.context, brief.near_miss) for brief in record.briefs]
            return {name for names in (*briefs, record.candidates) for name in names if name}
        case Proposal():
            return {name for name in (record.candidate, record.duplicate_of) if name}
        case Dossier() | Judged() | Prediction() | Score():
            return {record.candidate}
    return set()
