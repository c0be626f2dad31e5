"""A judged candidate case by case: time with its interval, speed-up against the best baseline, share of the limit."""

from __future__ import annotations

import statistics
from collections.abc import Iterable, Sequence
from dataclasses import dataclass

from warpwright.core.errors import UsageError
from warpwright.core.gpus.limit import Limit, arithmetic, physical_limit, traffic
from warpwright.core.gpus.table import gpu_named
from warpwright.core.records.judged import Judged
from warpwright.core.records.measurement import COPY, Cache, Measurement
from warpwright.core.task import Case, Task
from warpwright.judge.timing.inference import Interval, geometric_mean, median, speed_up

EAGER = "eager"
THRESHOLDS = (1.0, 1.5, 2.0)


@dataclass(frozen=True, slots=True, kw_only=True)
class Standing:
    """One case in one cache state. Values that were not measured are None."""

    case: str
    cache: Cache
    time_us: Interval | None
    rivals_us: dict[str, Interval]
    best_rival: str | None
    speed_up: Interval | None
    """Against the best baseline; the lower bound `low` of the 95 % interval decides."""
    limit_us: float | None
    share_of_limit: float | None
    share_of_copy: float | None
    """The time of a plain copy of as many bytes, as a share of the candidate's time."""
    gb_per_s: float | None
    tflop_per_s: float | None
    bound_by: str | None
    memory_ratio: float | None
    """Peak memory beyond the inputs, results included, in units of the eager reference's."""
    invalid: str | None


def standings(task: Task, judged: Judged) -> tuple[Standing, ...]:
    """Returns a standing for every timed case and cache state, in the order of the records."""
    groups: dict[tuple[str, Cache], list[Measurement]] = {}
    for item in judged.measurements:
        groups.setdefault((item.case, item.cache), []).append(item)
    cases = {case.name: case for case in task.cases}
    return tuple(_standing(task, cases[name], cache, judged, group) for (name, cache), group in groups.items())


def summary(standing: Iterable[Standing]) -> dict[str, float | None]:
    """Computes geometric mean, median and the share of cases above each threshold, over valid cold cases."""
    found = [
        item.speed_up.value for item in standing if item.cache is Cache.COLD and item.speed_up and not item.invalid
    ]
    shares = {f"fast_{t:g}": sum(value >= t for value in found) / len(found) if found else None for t in THRESHOLDS}
    return {"geometric_mean": geometric_mean(found), "median": statistics.median(found) if found else None, **shares}


def _standing(task: Task, case: Case, cache: Cache, judged: Judged, group: Sequence[Measurement]) -> Standing:
    mine = next((item for item in group if item.subject == judged.candidate), None)
    others = {item.subject: item for item in group if item is not mine and item.samples_us and not item.invalid}
    rivals = {name: item for name, item in others.items() if name != COPY}
    medians = {name: median(item.samples_us) for name, item in rivals.items()}
    best = min(medians, key=lambda name: medians[name].value, default=None)
    time = median(mine.samples_us) if mine and mine.samples_us else None
    limit = _limit(task, case, mine)
    seconds = time.value * 1e-6 if time else None
    return Standing(
        case=case.name,
        cache=cache,
        time_us=time,
        rivals_us=medians,
        best_rival=best,
        speed_up=speed_up(_blocks(mine), _blocks(rivals[best])) if mine and time and best else None,
        limit_us=limit.seconds * 1e6 if limit else None,
        share_of_limit=limit.seconds / seconds if limit and seconds else None,
        share_of_copy=median(others[COPY].samples_us).value / time.value if time and COPY in others else None,
        gb_per_s=_rate(traffic(task.work, case), seconds, 1e9),
        tflop_per_s=_rate(sum(arithmetic(task.work, case)[:2]), seconds, 1e12),
        bound_by=limit.bound_by.value if limit else None,
        memory_ratio=_memory_ratio(mine, others.get(EAGER)),
        invalid=mine.invalid if mine else "not measured",
    )


def _limit(task: Task, case: Case, mine: Measurement | None) -> Limit | None:
    try:
        gpu = gpu_named(mine.scene.gpu or "") if mine else None
    except UsageError:
        return None
    return physical_limit(task.work, case, gpu, tf32=task.tolerance.tf32) if gpu else None


def _memory_ratio(mine: Measurement | None, eager: Measurement | None) -> float | None:
    if mine is None or mine.peak_bytes is None or eager is None or not eager.peak_bytes:
        return None
    return mine.peak_bytes / eager.peak_bytes


def _rate(amount: float, seconds: float | None, unit: float) -> float | None:
    return amount / seconds / unit if seconds and amount else None


def _blocks(measurement: Measurement) -> list[list[float]]:
    samples, blocks = iter(measurement.samples_us), measurement.blocks or (len(measurement.samples_us),)
    return [[next(samples) for _ in range(count)] for count in blocks]
