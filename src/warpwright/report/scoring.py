"""Scores a correct candidate with one number, so that a search can compare: weighted logarithms over cases."""

from __future__ import annotations

import math
from collections.abc import Iterable, Mapping, Sequence

from warpwright.core.gpus.limit import physical_limit
from warpwright.core.gpus.table import gpu_named
from warpwright.core.records.judged import Judged
from warpwright.core.records.measurement import Cache
from warpwright.core.records.search import Basis, Prediction, Score
from warpwright.core.task import Task
from warpwright.report.standings import Standing, standings


def measured(task: Task, judged: Judged) -> Score | None:
    """Scores against the best baseline of each case, cold. None unless every timed case has a valid time."""
    cold = [item for item in standings(task, judged) if item.cache is Cache.COLD]
    ratios = {item.case: item.speed_up.value for item in cold if item.speed_up and item.invalid is None}
    if not ratios or len(ratios) < len(cold):
        return None
    by_case = {case: math.log(ratio) for case, ratio in ratios.items()}
    return Score(
        candidate=judged.candidate,
        basis=Basis.MEASURED,
        value=_mean(task, by_case),
        by_case=by_case,
        times_us={item.case: item.time_us.value for item in cold if item.time_us},
        share_of_limit=_share(task, {item.case: item.share_of_limit for item in cold}),
        gpu_seconds=sum(judged.seconds.values()) or None,
        profile=_slowest(cold),
    )


def predicted(task: Task, predictions: Sequence[Prediction], profile: str | None = None) -> Score | None:
    """Scores by the predicted share of the physical limit. Never compared with a measurement."""
    shares = {item.case: _share_of_limit(task, item) for item in predictions}
    by_case = {case: math.log(share) for case, share in shares.items() if share}
    if not by_case:
        return None
    value = _mean(task, by_case)
    return Score(
        candidate=predictions[0].candidate,
        basis=Basis.PREDICTED,
        value=value,
        by_case=by_case,
        times_us={item.case: item.time_us for item in predictions},
        share_of_limit=math.exp(value),
        profile=profile,
    )


def _share_of_limit(task: Task, prediction: Prediction) -> float | None:
    case = next(case for case in task.cases if case.name == prediction.case)
    limit = physical_limit(task.work, case, gpu_named(prediction.gpu), tf32=task.tolerance.tf32)
    return limit.seconds / (prediction.time_us * 1e-6) if limit else None


def _mean(task: Task, by_case: Mapping[str, float]) -> float:
    weights = {case.name: case.weight for case in task.cases}
    total = sum(weights[case] for case in by_case)
    return sum(weights[case] * value for case, value in by_case.items()) / total


def _share(task: Task, shares: Mapping[str, float | None]) -> float | None:
    known = {case: math.log(share) for case, share in shares.items() if share}
    return math.exp(_mean(task, known)) if known else None


def _slowest(standing: Iterable[Standing]) -> str | None:
    """Describes the case that is furthest from its physical limit."""
    known = [item for item in standing if item.share_of_limit and item.time_us and item.bound_by]
    if not known:
        return None
    worst = min(known, key=lambda item: item.share_of_limit or 0.0)
    share, time = (worst.share_of_limit or 0.0) * 100, worst.time_us.value if worst.time_us else 0.0
    return f"furthest from the limit is {worst.case}: {time:.4g} us, {share:.0f} % of what {worst.bound_by} allows"
