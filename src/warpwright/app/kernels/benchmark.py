"""A benchmark that the user brings, checked and timed as one run. Its folder is a bundle: it can be stopped, resumed,
split over machines and carried to a GPU elsewhere.
"""

from __future__ import annotations

import json
import os
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from functools import partial
from pathlib import Path

from warpwright.app.given import candidate_of, with_precision
from warpwright.app.kernels.bench import asked_of
from warpwright.app.kernels.collections import Collection, collection_named, problems_of
from warpwright.app.kernels.suite import jobs_in, kernel_of, results_of, work_off_bundle
from warpwright.app.progress import OnProgress, Reporter
from warpwright.core.errors import UsageError
from warpwright.core.records.judged import Job, JudgeOptions
from warpwright.core.task import Task
from warpwright.dispatch.bundle import make_job, write_bundle
from warpwright.dispatch.ordered_map import ordered_map
from warpwright.dispatch.sealed_jobs import sealed_jobs
from warpwright.report.benchmark.figures import Problem, Row, Totals, rows_of, totals_of
from warpwright.report.benchmark.formats import as_csv, baseline_times, eval_results
from warpwright.report.benchmark.page import benchmark_page
from warpwright.report.verdicts import refusal_sentence
from warpwright.seal.refusal import Refusal


@dataclass(frozen=True, slots=True, kw_only=True, repr=False)
class BenchmarkResult:
    """Every problem of a benchmark, and the totals of each level."""

    name: str
    folder: Path
    problems: tuple[Problem, ...]

    @property
    def title(self) -> str:
        """The benchmark and its precision contract."""
        contracts = {problem.task.tolerance.precision for problem in self.problems if problem.task}
        return f"Benchmark {self.name}, fp32 products {' and '.join(sorted(contracts))}"

    @property
    def rows(self) -> tuple[Row, ...]:
        return rows_of(self.problems)

    @property
    def totals(self) -> tuple[Totals, ...]:
        return totals_of(self.rows)

    def __repr__(self) -> str:
        lines = [
            f"{item.level} against {item.baseline}: {item.right:.0%} right, fast_1 {item.fast['1']:.0%}, "
            f"geometric mean {'-' if item.geometric_mean is None else f'{item.geometric_mean:.3g}'}"
            for item in self.totals
        ]
        return "\n  ".join([f"{self.title}: {len(self.problems)} problems", *lines])

    def _repr_html_(self) -> str:
        return benchmark_page(self.title, self.rows, self.totals)


def run_benchmark(
    suite: str,
    *,
    levels: Sequence[str] = (),
    kernels: str | Path | None = None,
    folder: str | Path | None = None,
    shard: tuple[int, int] = (1, 1),
    precision: str | None = None,
    baselines: Sequence[str] | None = None,
    seconds: float = 1.0,
    gpu: str = "h200",
    fast_math: bool = False,
    on_progress: OnProgress | None = None,
) -> BenchmarkResult:
    """Load, seal and judge what is not there yet, write the result files, and return all of it.

    `suite` is `kernelbench:FOLDER` or `robust-kbench:FOLDER`; `kernels` holds NAME.cu, or level1/NAME.cu. `shard` is
    the number of this part and how many there are: runs that share a folder share its results.
    """
    asked, reporter = _collection(suite, levels), Reporter(on_progress)
    place, given = Path(folder or f"bench-{asked.kind}"), Path(kernels) if kernels is not None else None
    if given is not None and not given.is_dir():
        raise UsageError(f"{given} is no folder")
    problems = _under(precision, problems_of(asked, place, _shard(shard), reporter))
    refused = _prepare(problems, place, partial(_job, given, gpu, fast_math, asked_of(baselines, seconds)), reporter)
    work_off_bundle(place, reporter)
    judged = results_of(place)
    known = [
        replace(problem, judged=judged.get(problem.task.key), refused=refused.get(problem.task.key))
        if problem.task
        else problem
        for problem in problems
    ]
    found = BenchmarkResult(name=asked.kind, folder=place, problems=tuple(known))
    _write_files(found)
    return found


def _under(precision: str | None, problems: Sequence[Problem]) -> list[Problem]:
    if precision is None:
        return list(problems)
    return [
        replace(problem, task=with_precision(problem.task, precision)) if problem.task else problem
        for problem in problems
    ]


def _collection(suite: str, levels: Sequence[str]) -> Collection:
    asked = collection_named(suite, levels)
    if asked is None:
        raise UsageError(f"'{suite}' names no folder; write kernelbench:FOLDER")
    return asked


def _shard(shard: tuple[int, int]) -> tuple[int, int]:
    number, shards = shard
    if not 1 <= number <= shards:
        raise UsageError(f"there is no part {number} of {shards}")
    return shard


def _job(
    kernels: Path | None, gpu: str, fast_math: bool, asked: JudgeOptions, problem: Problem
) -> Job | Refusal | None:
    """A job with the kernel, or for the baselines alone if no kernels were given; None if the kernel is absent."""
    task = problem.task
    if task is None:
        return None
    if kernels is None:
        return make_job(task.key, task, None, asked=asked)
    path = kernel_of(task, kernels / problem.level) or kernel_of(task, kernels)
    if path is None:
        return None
    ((_, outcome),) = sealed_jobs(task, [(path.name, candidate_of(path, gpu, fast_math))], asked)
    return outcome


def _prepare(
    problems: Sequence[Problem], folder: Path, make: partial[Job | Refusal | None], reporter: Reporter
) -> Mapping[str, str]:
    """Write the jobs that are missing, several at a time; what cannot be sealed, with the reason."""
    there = jobs_in(folder, [problem.task for problem in problems if problem.task])
    waiting = [problem for problem in problems if problem.task and problem.task.key not in there]
    refused: dict[str, str] = {}
    reporter.start(len(waiting), "sealing")
    outcomes = ordered_map(make, waiting, workers=os.cpu_count() or 1)
    for problem, outcome in zip(waiting, outcomes, strict=True):
        if isinstance(outcome, Refusal):
            refused[_key(problem.task)] = refusal_sentence(outcome)
        elif outcome is not None:
            write_bundle(folder, [outcome])
        reporter.advance(problem.name)
    return refused


def _key(task: Task | None) -> str:
    return task.key if task else ""


def _write_files(found: BenchmarkResult) -> None:
    """results.csv, index.html, and for KernelBench its own two files for each level."""
    rows, place = found.rows, found.folder
    place.mkdir(parents=True, exist_ok=True)
    (place / "results.csv").write_text(as_csv(rows))
    (place / "index.html").write_text(benchmark_page(found.title, rows, found.totals))
    for level in dict.fromkeys(problem.level for problem in found.problems) if found.name == "kernelbench" else ():
        pairs = [pair for pair in zip(found.problems, rows, strict=True) if pair[0].level == level]
        problems = [problem for problem, _ in pairs]
        target = place / "kernelbench" / (level or "problems")
        target.mkdir(parents=True, exist_ok=True)
        samples = eval_results(problems, [row for _, row in pairs])
        (target / "eval_results.json").write_text(json.dumps(samples, indent=1))
        (target / "baseline_time_torch.json").write_text(json.dumps(baseline_times(problems, "eager"), indent=1))
