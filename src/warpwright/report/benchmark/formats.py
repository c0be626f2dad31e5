"""Rows of a benchmark as files: CSV for spreadsheets, and the JSON that KernelBench's own analysis reads.

KernelBench keeps `eval_results.json`, a list of samples by problem number, and a file of baseline times by level and
file name. Its times are milliseconds.
"""

from __future__ import annotations

import csv
import io
import re
import statistics
from collections.abc import Iterable, Mapping, Sequence
from typing import Any

from warpwright.core.records.judged import Judged
from warpwright.core.records.measurement import Cache, Measurement
from warpwright.report.benchmark.figures import Outcome, Problem, Row

_NUMBER = re.compile(r"(\d+)_")


def as_csv(rows: Sequence[Row]) -> str:
    """One line for each problem; an empty cell was not measured."""
    baselines = list(dict.fromkeys(name for row in rows for name in row.baselines_us))
    head = ["level", "problem", "outcome", "time_us", "low_us", "high_us", *(f"{name}_us" for name in baselines)]
    head += ["speedup_vs_best", "low", "memory_ratio", "peak_bytes", "library_share", "reason"]
    text = io.StringIO()
    writer = csv.writer(text, lineterminator="\n")
    writer.writerow(head)
    writer.writerows(_cells(row, baselines) for row in rows)
    return text.getvalue()


def eval_results(problems: Iterable[Problem], rows: Iterable[Row]) -> dict[str, list[dict[str, Any]]]:
    """KernelBench's results of one level: a sample for each problem with a kernel, by the number of the problem."""
    found = {}
    for problem, row in zip(problems, rows, strict=True):
        number = _NUMBER.match(problem.name)
        if number and row.outcome in (Outcome.HOLDS, Outcome.REFUTED, Outcome.REFUSED):
            found[number.group(1)] = [_sample(problem.judged, row)]
    return dict(sorted(found.items(), key=lambda pair: int(pair[0])))


def baseline_times(problems: Iterable[Problem], baseline: str) -> dict[str, dict[str, dict[str, Any]]]:
    """KernelBench's baseline times: statistics in milliseconds by level and file name."""
    found: dict[str, dict[str, dict[str, Any]]] = {}
    for problem in problems:
        measured = _cold(problem.judged, baseline)
        if measured is not None:
            gpu = {"hardware": measured.scene.gpu, "device": "cuda:0"}
            found.setdefault(problem.level, {})[f"{problem.name}.py"] = {**_statistics(measured), **gpu}
    return found


def _sample(judged: Judged | None, row: Row) -> dict[str, Any]:
    measured = _cold(judged, judged.candidate) if judged else None
    times = _statistics(measured) if measured and row.outcome is Outcome.HOLDS else {}
    metadata = {} if row.reason is None else {"warpwright": row.reason}
    return {
        "sample_id": 0,
        "compiled": row.outcome is not Outcome.REFUSED,
        "correctness": row.outcome is Outcome.HOLDS,
        "metadata": metadata,
        "runtime": times.get("mean", -1.0),
        "runtime_stats": times,
    }


def _cold(judged: Judged | None, subject: str) -> Measurement | None:
    measured = judged.measurements if judged else ()
    wanted = (item for item in measured if item.subject == subject and item.cache is Cache.COLD and item.samples_us)
    return next((item for item in wanted if item.invalid is None), None)


def _statistics(measured: Measurement) -> Mapping[str, float | int]:
    times = [sample / 1e3 for sample in measured.samples_us]
    return {
        "mean": statistics.fmean(times),
        "std": statistics.stdev(times) if len(times) > 1 else 0.0,
        "min": min(times),
        "max": max(times),
        "num_trials": len(times),
    }


def _cells(row: Row, baselines: Sequence[str]) -> list[object]:
    time, gain = row.time_us, row.speed_up
    cells: list[object] = [row.level, row.name, row.outcome.value]
    cells += [time.value, time.low, time.high] if time else [None] * 3
    cells += [row.baselines_us.get(name) for name in baselines]
    cells += [gain.value, gain.low] if gain else [None] * 2
    return [*cells, row.memory_ratio, row.peak_bytes, row.library_share, row.reason]
