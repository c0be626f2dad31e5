"""Reads the report of an emulated program as hostile data: the candidate shared the process that wrote it."""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import dataclass, field
from enum import StrEnum
from typing import Any

from warpwright.core.codec import CodecError, decode
from warpwright.core.launch.plan import Triple
from warpwright.seal.capture import trace
from warpwright.seal.capture.trace import BadTrace
from warpwright.seal.capture.traced import Trace

_MOST_FINDINGS = 10_000


class Tier(StrEnum):
    """The severity of a finding."""

    FATAL = "fatal"
    """The GPU faults or hangs, or the result is undefined."""
    LIKELY = "likely"
    """Undefined by the programming model: wrong in some order or on some hardware."""
    TOLERATED = "tolerated"
    """Outside of the model, but hardware does what was intended."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Other:
    """The other side of a race."""

    code: int = 0
    block: Triple | None = None
    thread: Triple | None = None
    access: str = ""


@dataclass(frozen=True, slots=True, kw_only=True)
class Memory:
    """The accessed memory: a buffer or a shared variable, with an offset from its start."""

    space: str
    offset: int
    bytes: int
    buffer: int | None = None
    name: str | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class Reported:
    """One kind of error at one place of the code, with a count."""

    kind: str
    severity: Tier
    message: str
    count: int
    kernel: str = ""
    launch: int | None = None
    code: int = 0
    file: str | None = None
    line: int | None = None
    block: Triple | None = None
    thread: Triple | None = None
    other: Other | None = None
    memory: Memory | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class Numbers:
    """The position of numbers in the outputs file, one for each element of a buffer."""

    at: int
    count: int


@dataclass(frozen=True, slots=True, kw_only=True)
class Content:
    """The position of a buffer's bytes in the outputs file."""

    buffer: int
    at: int
    bytes: int
    written: int | None = None
    numbers: Numbers | None = None
    """Of a lifted program: the numbers that the elements stand for."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Operand:
    """The position of an operand's contiguous elements in the outputs file."""

    at: int
    bytes: int


@dataclass(frozen=True, slots=True, kw_only=True)
class Awaited:
    """The library operation at which the run ended: a node of the trace, and its operands."""

    node: int
    operands: tuple[Operand | None, ...]
    """None for an operand that is in the trace itself, or absent."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Report:
    """One call: the trace of the host code, and the results of its kernels."""

    trace: Trace
    outcome: str
    what: str = ""
    findings: tuple[Reported, ...] = ()
    contents: tuple[Content, ...] = ()
    counters: Mapping[str, int] = field(default_factory=dict)
    awaits: Awaited | None = None
    sampled: bool = False
    """Whether some blocks were skipped."""
    sampling: str | None = None
    """The reason why the sample is not valid; None if it is."""

    @property
    def lacks_room(self) -> bool:
        """Whether nothing ran because the arena overlaps memory of the process itself."""
        return self.outcome == "taken"


def read(line: bytes) -> Report:
    """One line of a program's answer."""
    host = trace.read(line)
    try:
        found = json.loads(line).get("emulation")
        return Report(trace=host, outcome="skipped") if found is None else _report(host, found)
    except (CodecError, KeyError, TypeError, AttributeError) as error:
        raise BadTrace(f"the output of the emulated program is no report: {error!s:.200}") from None


def _report(host: Trace, data: Mapping[str, Any]) -> Report:
    findings: tuple[Reported, ...] = decode(tuple[Reported, ...], data.get("findings", [])[:_MOST_FINDINGS])
    return Report(
        trace=host,
        outcome=decode(str, data["outcome"]),
        what=decode(str, data.get("what", ""))[:1000],
        findings=findings,
        contents=decode(tuple[Content, ...], data.get("contents", [])),
        counters=decode(Mapping[str, int], data.get("counters", {})),
        awaits=decode(Awaited | None, data.get("awaits")),
        sampled=decode(bool, data.get("sampled", False)),
        sampling=decode(str | None, data.get("sampling")),
    )
