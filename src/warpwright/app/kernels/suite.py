"""A whole suite as one table. Its folder is a bundle: a run over a suite can be stopped, resumed and carried."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path

from warpwright import languages
from warpwright.app.given import candidate_of, with_precision
from warpwright.app.kernels.bench import asked_of
from warpwright.app.progress import OnProgress, Reporter
from warpwright.core.errors import Undecided, UsageError
from warpwright.core.records.judged import Job, Judged, JudgeOptions
from warpwright.core.task import Role, Task
from warpwright.dispatch.bundle import make_job, read_jobs, read_results, write_bundle
from warpwright.dispatch.local import work_off
from warpwright.dispatch.sealed_jobs import sealed_jobs
from warpwright.report.standings import Standing, standings
from warpwright.report.suite import Overview, overview
from warpwright.report.verdicts import refusal_sentence
from warpwright.seal.refusal import Refusal
from warpwright.tasks.find import all_tasks


@dataclass(frozen=True, slots=True, kw_only=True, repr=False)
class SuiteResult:
    """Every task of a suite against every baseline."""

    tasks: tuple[Task, ...]
    judged: Mapping[str, Judged]
    """By the key of the task; tasks without a job have none."""
    refused: Mapping[str, str]
    """Why a kernel could not be sealed, by the key of its task."""
    overview: Overview

    @property
    def standings(self) -> list[tuple[Task, Standing]]:
        """Times of every task, in the order of the suite."""
        found = [(task, self.judged[task.key]) for task in self.tasks if task.key in self.judged]
        return [(task, item) for task, judged in found for item in standings(task, judged)]

    def __repr__(self) -> str:
        told = self.overview
        head = (
            f"Suite {told.suite}: {told.right} of {told.tasks} tasks have a right kernel, {told.refuted} a refuted one."
        )
        return "\n  ".join([head, *(" ".join(row) for row in self._rows())])

    def _rows(self) -> list[tuple[str, ...]]:
        return [
            (item.baseline, f"{item.timed} tasks", "" if item.geometric_mean is None else f"{item.geometric_mean:.3g}x")
            for item in self.overview.against
        ]

    def _repr_html_(self) -> str:
        from warpwright.app.notebook import paragraph, table

        head = repr(self).splitlines()[0]
        return paragraph(head) + table(("against", "timed", "geometric mean"), self._rows())


def bench_suite(
    suite: str,
    *,
    kernels: str | Path | None = None,
    folder: str | Path | None = None,
    timed: int | None = None,
    precision: str | None = None,
    baselines: Sequence[str] | None = None,
    seconds: float = 1.0,
    gpu: str = "h200",
    fast_math: bool = False,
    on_progress: OnProgress | None = None,
) -> SuiteResult:
    """Seal what is not sealed yet, judge what is not judged yet, and report all of it.

    `kernels` is a folder with NAME.cu, NAME.backward.cu ...; without it the baselines alone are timed. `timed` is how
    many cases of each task are timed; all are checked.
    """
    place, given = Path(folder or f"bench-{suite}"), Path(kernels) if kernels is not None else None
    tasks = [_with_fewer(task, timed) for task in all_tasks() if task.suite == suite]
    tasks = [with_precision(task, precision) for task in tasks] if precision else tasks
    _check(suite, tasks, given)
    reporter = Reporter(on_progress)
    refused = _prepare(tasks, given, place, gpu, fast_math, asked_of(baselines, seconds), reporter)
    work_off_bundle(place, reporter)
    found = results_of(place)
    told = overview(suite, [(task, found.get(task.key)) for task in tasks])
    return SuiteResult(tasks=tuple(tasks), judged=found, refused=refused, overview=told)


def _check(suite: str, tasks: Sequence[Task], kernels: Path | None) -> None:
    if not tasks:
        known = ", ".join(sorted({task.suite for task in all_tasks()}))
        raise UsageError(f"there is no suite '{suite}'; one of {known}")
    if kernels is not None and not kernels.is_dir():
        raise UsageError(f"{kernels} is no folder")
    if kernels is not None and not any(kernel_of(task, kernels) for task in tasks):
        named = " or ".join(languages.file_name(f"{tasks[0].name}{end}") for end in ("", ".backward"))
        raise UsageError(f"no file in {kernels} is named after a task of {suite}, such as {named}")


def work_off_bundle(folder: Path, reporter: Reporter) -> None:
    """Without a GPU here, results that came from elsewhere are enough."""
    try:
        work_off(folder, reporter)
    except Undecided:
        if not results_of(folder):
            raise Undecided(
                f"no NVIDIA GPU found; the suite is sealed in {folder}: run `python3 worker.pyz jobs/ --out"
                " results/` there on a machine with one, then this command again"
            ) from None


def _with_fewer(task: Task, timed: int | None) -> Task:
    """Checked on all cases, timed on the first of them."""
    left_out = task.cases_of(Role.TIME)[timed:] if timed else ()
    return replace(task, cases=tuple(case for case in task.cases if case not in left_out))


def kernel_of(task: Task, kernels: Path) -> Path | None:
    """NAME.DIRECTION.cu, or NAME.cu for the forward pass; or with the ending of another language."""
    names = [f"{task.name}.{task.direction}", *([task.name] if task.direction == "forward" else [])]
    files = [kernels / f"{name}{ending}" for ending in languages.file_endings() for name in names]
    return next((file for file in files if file.is_file()), None)


def _prepare(
    tasks: Sequence[Task],
    kernels: Path | None,
    folder: Path,
    gpu: str,
    fast_math: bool,
    asked: JudgeOptions,
    reporter: Reporter,
) -> dict[str, str]:
    """Write jobs for all tasks that have none yet; what cannot be sealed, with the reason."""
    there = jobs_in(folder, tasks)
    waiting = [task for task in tasks if task.key not in there]
    refused: dict[str, str] = {}
    reporter.start(len(waiting), "sealing")
    for task in waiting:
        outcome = _job(task, kernels, gpu, fast_math, asked)
        if isinstance(outcome, Refusal):
            refused[task.key] = refusal_sentence(outcome)
        elif outcome is not None:
            write_bundle(folder, [outcome])
        reporter.advance(task.key)
    return refused


def jobs_in(folder: Path, tasks: Sequence[Task]) -> set[str]:
    """The keys of the tasks that have a job. A folder holds one precision, so that no headline mixes two."""
    wanted = {task.key: task.tolerance.precision for task in tasks}
    there = {job.task.key: job.task.tolerance.precision for job in read_jobs(folder / "jobs")}
    for key, precision in there.items():
        if wanted.get(key, precision) is not precision:
            raise UsageError(f"{folder} holds a run with precision {precision}; name another folder with --out")
    return set(there)


def _job(task: Task, kernels: Path | None, gpu: str, fast_math: bool, asked: JudgeOptions) -> Job | Refusal | None:
    """Without a folder of kernels the baselines alone; None where the folder has none for this task."""
    if kernels is None:
        return make_job(task.key, task, None, asked=asked)
    path = kernel_of(task, kernels)
    if path is None:
        return None
    ((_, outcome),) = sealed_jobs(task, [(path.name, candidate_of(path, gpu, fast_math))], asked)
    return outcome


def results_of(folder: Path) -> dict[str, Judged]:
    results = folder / "results"
    return {item.task: item for item in read_results(results)} if any(results.glob("*.json")) else {}
