"""A suite as one table: every task against every baseline. A task without a correct kernel counts as not faster."""

from __future__ import annotations

import statistics
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from warpwright.core.records.evidence import Verdict
from warpwright.core.records.judged import Judged
from warpwright.core.records.measurement import Cache
from warpwright.core.task import Task
from warpwright.judge.timing.inference import geometric_mean
from warpwright.report.standings import THRESHOLDS, Standing, standings


@dataclass(frozen=True, slots=True, kw_only=True)
class Against:
    """One baseline over a suite. Means are over the tasks with a correct and timed kernel."""

    baseline: str
    timed: int
    geometric_mean: float | None
    median: float | None
    fast: Mapping[str, float]
    """The share of all tasks whose kernel is correct and faster than the baseline by each factor."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Overview:
    suite: str
    tasks: int
    right: int
    refuted: int
    against: tuple[Against, ...]


def overview(suite: str, entries: Sequence[tuple[Task, Judged | None]]) -> Overview:
    """Summarises one suite; figures of different suites must not be combined."""
    if foreign := {task.suite for task, _ in entries} - {suite}:
        raise ValueError(f"tasks of {sorted(foreign)} do not belong in the figures of {suite}")
    judged = [(task, item) for task, item in entries if item is not None]
    wrong = sum(_refuted(item) for _, item in judged)
    ratios = {task.key: _ratios(standings(task, item)) for task, item in judged if not _refuted(item)}
    names = dict.fromkeys(name for found in ratios.values() for name in found)
    return Overview(
        suite=suite,
        tasks=len(entries),
        right=sum(bool(item.evidence) and not _refuted(item) for _, item in judged),
        refuted=wrong,
        against=tuple(_against(name, [found[name] for found in ratios.values() if name in found], len(entries))
                      for name in names),
    )  # fmt: skip


def _refuted(judged: Judged) -> bool:
    return any(item.verdict is Verdict.REFUTED for item in judged.evidence)


def _ratios(standing: Sequence[Standing]) -> dict[str, float]:
    """Returns the geometric mean of one task against each baseline, over its valid cold cases."""
    cold = [item for item in standing if item.cache is Cache.COLD and item.time_us and item.invalid is None]
    names = dict.fromkeys(name for item in cold for name in item.rivals_us)
    found = {}
    for name in names:
        both = [(item.rivals_us[name].value, item.time_us) for item in cold if name in item.rivals_us]
        mean = geometric_mean([rival / mine.value for rival, mine in both if mine is not None])
        if mean is not None:
            found[name] = mean
    return found


def _against(name: str, ratios: Sequence[float], tasks: int) -> Against:
    return Against(
        baseline=name,
        timed=len(ratios),
        geometric_mean=geometric_mean(ratios),
        median=statistics.median(ratios) if ratios else None,
        fast={f"{factor:g}": sum(ratio > factor for ratio in ratios) / tasks for factor in THRESHOLDS},
    )
