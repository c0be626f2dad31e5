"""Describes a kernel of the run: its source, its speed, and why it is wrong if it is."""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass, field

from warpwright.core.candidate import Candidate
from warpwright.core.records.evidence import Evidence
from warpwright.core.records.search import Basis, Score
from warpwright.core.task import Task
from warpwright.propose.prompting.quoting import quoted
from warpwright.seal.summary import Summary

_MOST_TERMS = 5


@dataclass(frozen=True, slots=True, kw_only=True)
class Known:
    """One kernel of the run. `refutation` is set for a wrong kernel; `score` and `times_us` for a correct one, if
    known."""

    candidate: Candidate
    score: Score | None = None
    times_us: Mapping[str, float] = field(default_factory=dict)
    """Times by case name."""
    baselines: Mapping[str, str] = field(default_factory=dict)
    """The best baseline of each case, by case name; for a measured kernel."""
    terms_us: Mapping[str, Mapping[str, float]] = field(default_factory=dict)
    """For a predicted kernel: the time that each resource would take alone, by case name."""
    summary: Summary | None = None
    """The kernels and launches of a sealed candidate."""
    refutation: Evidence | None = None


Library = Mapping[str, Known]
"""Every kernel that a brief may name, by the candidate's id."""


def known(library: Library, candidate: str) -> Known:
    """Looks up a kernel that a brief names; a missing one is a bug of ours."""
    if candidate not in library:
        raise ValueError(f"the brief names candidate {candidate}, which is not in the library")
    return library[candidate]


def shown(title: str, kernel: Known) -> str:
    """Quotes the source of a kernel."""
    return quoted(title, kernel.candidate.source)


def standing(kernel: Known, limits_us: Mapping[str, float | None]) -> str:
    """States the speed of a kernel, in a sentence and a line for each case, or that it has not been measured."""
    lines = [_headline(kernel.score)] if kernel.score else []
    lines += [f"- {case}: {_figures(kernel, case, limits_us.get(case))}" for case in kernel.times_us]
    return "\n".join(lines) or "Its speed has not been measured."


def _headline(score: Score) -> str:
    ratio = math.exp(score.value)
    if score.basis is Basis.PREDICTED:
        return f"Predicted by a cost model, not measured: {ratio:.0%} of the physical limit over all timed cases."
    return f"Measured: {ratio:.2f} times the speed of the best baseline over all timed cases."


def _figures(kernel: Known, case: str, limit_us: float | None) -> str:
    time, score = kernel.times_us[case], kernel.score
    parts = [f"{time:.3g} µs"]
    if score is not None and score.basis is Basis.MEASURED and case in score.by_case:
        parts.append(_against_baseline(time, math.exp(score.by_case[case]), kernel.baselines.get(case)))
    if limit_us:
        parts.append(f"{limit_us / time:.0%} of the limit")
    if terms := kernel.terms_us.get(case):
        longest = sorted(terms.items(), key=lambda term: -term[1])[:_MOST_TERMS]
        parts.append("alone " + ", ".join(f"{name} {term:.3g} µs" for name, term in longest))
    return ", ".join(parts)


def _against_baseline(time: float, ratio: float, name: str | None) -> str:
    """States the speed-up over the best baseline, and the baseline's time, which follows from the ratio of medians."""
    called = f"{name}, " if name else ""
    return f"{ratio:.2f} times the best baseline ({called}{time * ratio:.3g} µs)"


def ladder(task: Task, kernels: tuple[Known, ...], limits_us: Mapping[str, float | None]) -> str:
    """Lists correct kernels in the order given, each with its speed."""
    parts = [
        f"{number}. {standing(kernel, limits_us)}\n\n{shown(f'kernel {number} for {task.name}', kernel)}"
        for number, kernel in enumerate(kernels, start=1)
    ]
    return "\n\n".join(parts)
