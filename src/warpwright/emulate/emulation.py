"""What emulating a candidate has shown, as plain data."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field

from warpwright.core.records.evidence import Counterexample, Verdict
from warpwright.emulate.findings import Finding


@dataclass(frozen=True, slots=True, kw_only=True)
class Emulation:
    """What running a candidate on the CPU has shown."""

    verdict: Verdict
    reason: str | None = None
    counterexample: Counterexample | None = None
    beyond: Counterexample | None = None
    """What goes wrong at sizes that nobody asked for; it does not touch the verdict."""
    rejected: tuple[str, ...] = ()
    """Cases that nobody asked for and that the host code does not take."""
    findings: tuple[Finding, ...] = ()
    warnings: tuple[str, ...] = ()
    """What was noticed and is not held against it."""
    cases: tuple[str, ...] = ()
    """Those that ran to the end."""
    runs: int = 0
    order_dependent: tuple[str, ...] = ()
    """Cases in which other orders of threads gave other bits."""
    counters: Mapping[str, int] = field(default_factory=dict)
    """Of the largest case."""
    granules: tuple[int, ...] = ()
    """Sizes in which its launches cut their work."""
    distance: float | None = None
    """The largest error of any run, in units of the honest spread."""
    digest: str | None = None
    """Of every bit of every result: two candidates that share it did the same in all that was tried."""
