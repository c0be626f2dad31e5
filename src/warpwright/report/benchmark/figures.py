"""One row for each problem of a benchmark, and the totals that the field reports, for each level and over all."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from enum import StrEnum

from warpwright.core.records.evidence import Verdict
from warpwright.core.records.judged import Judged
from warpwright.core.records.measurement import Cache, Measurement
from warpwright.core.task import Task
from warpwright.judge.timing.inference import Interval, geometric_mean
from warpwright.report.standings import EAGER, THRESHOLDS, Standing, standings

BEST = "best"
"""The fastest of all baselines of a problem."""


class Outcome(StrEnum):
    HOLDS = "holds"
    REFUTED = "refuted"
    REFUSED = "cannot be sealed"
    ABSENT = "no kernel"
    UNREADABLE = "cannot be loaded"
    FAULT = "our fault"


@dataclass(frozen=True, slots=True, kw_only=True)
class Problem:
    """A problem with all that is known of its kernel."""

    name: str
    level: str = ""
    task: Task | None = None
    judged: Judged | None = None
    unreadable: str | None = None
    """Why the problem could not be loaded."""
    refused: str | None = None
    """Why the kernel could not be sealed."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Row:
    """One problem. Values that were not measured are None."""

    name: str
    level: str
    outcome: Outcome
    reason: str | None = None
    time_us: Interval | None = None
    baselines_us: Mapping[str, float]
    speed_ups: Mapping[str, float]
    """Against each baseline and the best of them."""
    speed_up: Interval | None = None
    """Against the best baseline."""
    memory_ratio: float | None = None
    peak_bytes: int | None = None
    library_share: float | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class Totals:
    """The figures of one level against one baseline."""

    level: str
    baseline: str
    problems: int
    right: float
    """The share of problems whose kernel holds."""
    fast: Mapping[str, float]
    """fast_p: the share of problems whose kernel holds and is more than p times as fast."""
    geometric_mean: float | None
    """Over problems whose kernel holds and was timed."""
    with_fallback: float | None
    """Over all problems that were timed at all; the baseline itself, at 1.0, stands in where no kernel holds."""


def rows_of(problems: Sequence[Problem]) -> tuple[Row, ...]:
    return tuple(_row(problem) for problem in problems)


def totals_of(rows: Sequence[Row]) -> tuple[Totals, ...]:
    """Totals for each level and, if there are several, over all of them."""
    levels = list(dict.fromkeys(row.level for row in rows))
    baselines = list(dict.fromkeys(name for row in rows for name in row.speed_ups))
    groups = {level: [row for row in rows if row.level == level] for level in levels}
    if len(levels) > 1:
        groups["all"] = list(rows)
    return tuple(_totals(level, name, group) for level, group in groups.items() for name in baselines)


def _totals(level: str, baseline: str, rows: Sequence[Row]) -> Totals:
    right = [row for row in rows if row.outcome is Outcome.HOLDS]
    ratios = [row.speed_ups[baseline] for row in right if baseline in row.speed_ups]
    return Totals(
        level=level,
        baseline=baseline,
        problems=len(rows),
        right=len(right) / len(rows),
        fast={f"{factor:g}": sum(ratio > factor for ratio in ratios) / len(rows) for factor in THRESHOLDS},
        geometric_mean=geometric_mean(ratios),
        with_fallback=geometric_mean([*ratios, *[1.0] * (len(rows) - len(ratios))]),
    )


def _row(problem: Problem) -> Row:
    outcome, reason = _outcome(problem)
    stood = _timed(problem)
    mine = _mine(problem.judged, stood)
    if stood is None:
        return Row(
            name=problem.name, level=problem.level, outcome=outcome, reason=reason, baselines_us={}, speed_ups={}
        )
    baselines = {name: interval.value for name, interval in stood.rivals_us.items()}
    return Row(
        name=problem.name,
        level=problem.level,
        outcome=outcome,
        reason=reason or stood.invalid if stood.time_us else reason,
        time_us=stood.time_us,
        baselines_us=baselines,
        speed_ups=_speed_ups(stood, baselines) if outcome is Outcome.HOLDS else {},
        speed_up=stood.speed_up if outcome is Outcome.HOLDS and not stood.invalid else None,
        memory_ratio=stood.memory_ratio,
        peak_bytes=mine.peak_bytes if mine else None,
        library_share=mine.library_share if mine else None,
    )


def _speed_ups(stood: Standing, baselines: Mapping[str, float]) -> dict[str, float]:
    if stood.time_us is None or stood.invalid or not baselines:
        return {}
    mine = stood.time_us.value
    return {**{name: time / mine for name, time in baselines.items()}, BEST: min(baselines.values()) / mine}


def _timed(problem: Problem) -> Standing | None:
    """The cold time of the problem's first timed case: benchmarks of this kind have one."""
    if problem.task is None or problem.judged is None:
        return None
    found = standings(problem.task, problem.judged)
    return next((item for item in found if item.cache is Cache.COLD), None)


def _mine(judged: Judged | None, stood: Standing | None) -> Measurement | None:
    if judged is None or stood is None:
        return None
    wanted = (judged.candidate, stood.case, stood.cache)
    return next((item for item in judged.measurements if (item.subject, item.case, item.cache) == wanted), None)


def _outcome(problem: Problem) -> tuple[Outcome, str | None]:
    if problem.unreadable:
        return Outcome.UNREADABLE, problem.unreadable
    if problem.refused:
        return Outcome.REFUSED, problem.refused
    judged = problem.judged
    if judged is None or (not judged.evidence and not judged.faults):
        return Outcome.ABSENT, None
    refuted = next((item for item in judged.evidence if item.verdict is Verdict.REFUTED), None)
    if refuted is not None:
        return Outcome.REFUTED, refuted.counterexample.message if refuted.counterexample else refuted.reason
    timed = any(item.subject == judged.candidate for item in judged.measurements)
    if judged.faults and not timed:
        return Outcome.FAULT, judged.faults[-1].message
    return Outcome.HOLDS, None


__all__ = ["BEST", "EAGER", "Outcome", "Problem", "Row", "Totals", "rows_of", "totals_of"]
