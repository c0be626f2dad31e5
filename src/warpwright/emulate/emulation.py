"""The result of emulating a candidate, as plain data."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field

from warpwright.core.records.evidence import Counterexample, Verdict
from warpwright.emulate.findings import Finding


@dataclass(frozen=True, slots=True, kw_only=True)
class Emulation:
    """The result of running a candidate on the CPU."""

    verdict: Verdict
    reason: str | None = None
    counterexample: Counterexample | None = None
    beyond: Counterexample | None = None
    """An error at sizes outside of the task; it does not affect the verdict."""
    rejected: tuple[str, ...] = ()
    """The cases outside of the task that the host code rejects."""
    findings: tuple[Finding, ...] = ()
    warnings: tuple[str, ...] = ()
    """Findings that do not refute."""
    cases: tuple[str, ...] = ()
    """The cases that ran to the end."""
    sampled: tuple[str, ...] = ()
    """Larger cases of which a few blocks ran."""
    runs: int = 0
    order_dependent: tuple[str, ...] = ()
    """The cases in which other orders of threads gave other bits."""
    counters: Mapping[str, int] = field(default_factory=dict)
    """The counters of the largest case."""
    granules: tuple[int, ...] = ()
    """The sizes by which its launches divide their work."""
    distance: float | None = None
    """The largest error of any run, in units of the spread of the reference's runs."""
    digest: str | None = None
    """A hash of all results: candidates with equal digests gave the same bits in every run."""
