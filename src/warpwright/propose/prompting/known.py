"""What is known of a kernel when words are made of it: its text, how fast it is, why it is wrong."""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass, field

from warpwright.core.candidate import Candidate
from warpwright.core.records.evidence import Evidence
from warpwright.core.records.search import Basis, Score
from warpwright.core.task import Task
from warpwright.propose.prompting.quoting import quoted


@dataclass(frozen=True, slots=True, kw_only=True)
class Known:
    """One kernel of the run. `refutation` is set for a wrong one, `score` and `times_us` for a right one, if known."""

    candidate: Candidate
    score: Score | None = None
    times_us: Mapping[str, float] = field(default_factory=dict)
    """By the name of the case."""
    rivals: Mapping[str, str] = field(default_factory=dict)
    """What the best baseline was, by the name of the case; for a measured kernel."""
    refutation: Evidence | None = None


Library = Mapping[str, Known]
"""Every kernel that a brief may name, by the candidate's id."""


def known(library: Library, candidate: str) -> Known:
    """A brief that names a kernel nobody has is a slip of ours."""
    if candidate not in library:
        raise ValueError(f"the brief names candidate {candidate}, which is not in the library")
    return library[candidate]


def shown(title: str, kernel: Known) -> str:
    return quoted(title, kernel.candidate.source)


def standing(kernel: Known, limits_us: Mapping[str, float | None]) -> str:
    """How fast it is, in a sentence or a line for each case; that nobody knows, where nobody does."""
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
        parts.append(_against_rival(time, math.exp(score.by_case[case]), kernel.rivals.get(case)))
    if limit_us:
        parts.append(f"{limit_us / time:.0%} of the limit")
    return ", ".join(parts)


def _against_rival(time: float, ratio: float, name: str | None) -> str:
    """A ratio of medians, which gives the baseline's own as well."""
    called = f"{name}, " if name else ""
    return f"{ratio:.2f} times the best baseline ({called}{time * ratio:.3g} µs)"


def ladder(task: Task, kernels: tuple[Known, ...], limits_us: Mapping[str, float | None]) -> str:
    """Right kernels in the order given, each with its standing."""
    parts = [
        f"{number}. {standing(kernel, limits_us)}\n\n{shown(f'kernel {number} for {task.name}', kernel)}"
        for number, kernel in enumerate(kernels, start=1)
    ]
    return "\n\n".join(parts)
