"""`warpwright bench --suite`: a whole suite as one table. Its folder is a bundle: it can be resumed and carried."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path

from warpwright import languages
from warpwright.cli.check.candidates import read_candidate
from warpwright.cli.check.verdicts import sentence_of
from warpwright.cli.output import emit
from warpwright.cli.screen import faint, plain, progress, screen, show_table
from warpwright.core.errors import Undecided, UsageError
from warpwright.core.records.judged import Asked, Job, Judged
from warpwright.core.task import Role, Task
from warpwright.dispatch.bundle import make_job, read_jobs, read_results, write_bundle
from warpwright.dispatch.local import work_off
from warpwright.dispatch.sealed_jobs import sealed_jobs
from warpwright.report.standings import Standing, standings
from warpwright.report.suite import Against, Overview, overview
from warpwright.seal.refusal import Refusal
from warpwright.tasks.find import all_tasks

COLUMNS = ("task", "case", "L2", "time µs", "of limit", "of copy")


def bench_suite(
    suite: str,
    kernels: Path | None,
    folder: Path,
    timed: int | None,
    *,
    gpu: str,
    fast_math: bool,
    asked: Asked,
    as_json: bool,
) -> Overview:
    """Seals what is not sealed yet, judges what is not judged yet, and shows all of it."""
    tasks = [_with_fewer(task, timed) for task in all_tasks() if task.suite == suite]
    if not tasks:
        known = ", ".join(sorted({task.suite for task in all_tasks()}))
        raise UsageError(f"there is no suite '{suite}'; one of {known}")
    if kernels is not None and not kernels.is_dir():
        raise UsageError(f"{kernels} is no folder")
    if kernels is not None and not any(kernel_of(task, kernels) for task in tasks):
        named = f"{tasks[0].name}.cu or {tasks[0].name}.backward.cu"
        raise UsageError(f"no file in {kernels} is named after a task of {suite}, such as {named}")
    refused = _prepare(tasks, kernels, folder, gpu, fast_math, asked, silent=as_json)
    try:
        with progress(silent=as_json) as bar:
            work_off(folder, bar)
    except Undecided:
        if not _results(folder):
            raise Undecided(
                f"no NVIDIA GPU found; the suite is sealed in {folder}: run `python3 worker.pyz jobs/ --out"
                " results/` there on a machine with one, then this command again"
            ) from None
    found = _results(folder)
    told = overview(suite, [(task, found.get(task.key)) for task in tasks])
    if as_json:
        emit("bench.suite/1", overview=told, judged=list(found.values()), refused=refused)
    else:
        _show(tasks, found, refused, told)
    return told


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
    tasks: Sequence[Task], kernels: Path | None, folder: Path, gpu: str, fast_math: bool, asked: Asked, silent: bool
) -> dict[str, str]:
    """Jobs for all tasks that have none yet; what cannot be sealed, with the reason."""
    there = {job.task.key for job in read_jobs(folder / "jobs")}
    waiting = [task for task in tasks if task.key not in there]
    refused: dict[str, str] = {}
    with progress(silent=silent) as bar:
        bar.start(len(waiting), "sealing")
        for task in waiting:
            outcome = _job(task, kernels, gpu, fast_math, asked)
            if isinstance(outcome, Refusal):
                refused[task.key] = sentence_of(outcome)
            elif outcome is not None:
                write_bundle(folder, [outcome])
            bar.advance(task.key)
    return refused


def _job(task: Task, kernels: Path | None, gpu: str, fast_math: bool, asked: Asked) -> Job | Refusal | None:
    """Without a folder of kernels the baselines alone; None where the folder has none for this task."""
    if kernels is None:
        return make_job(task.key, task, None, asked=asked)
    path = kernel_of(task, kernels)
    if path is None:
        return None
    ((_, outcome),) = sealed_jobs(task, [(path.name, read_candidate(path, gpu, fast_math))], asked)
    return outcome


def _results(folder: Path) -> dict[str, Judged]:
    results = folder / "results"
    return {item.task: item for item in read_results(results)} if any(results.glob("*.json")) else {}


def _show(tasks: Sequence[Task], found: dict[str, Judged], refused: dict[str, str], told: Overview) -> None:
    stood = [(task, item) for task in tasks if task.key in found for item in standings(task, found[task.key])]
    rivals = list(dict.fromkeys(name for _, item in stood for name in item.rivals_us))
    rows = [_row(task, item, rivals) for task, item in stood]
    show_table((*COLUMNS, *(f"vs {name}" for name in rivals), ""), rows, title=f"Suite {told.suite}")
    for key, reason in refused.items():
        screen().print(f"{plain(key)}: {plain(reason)}")
    show_table(
        ("against", "tasks timed", "geometric mean", "median", "> 1", "> 1.5", "> 2"), map(_against, told.against)
    )
    screen().print(faint(f"{told.right} of {told.tasks} tasks have a right kernel, {told.refuted} a refuted one."))


def _row(task: Task, item: Standing, rivals: Sequence[str]) -> list[str]:
    mine = item.time_us.value if item.time_us else None
    cells = [task.key, item.case, item.cache.value, "" if mine is None else f"{mine:.4g}"]
    cells += ["" if share is None else f"{share:.0%}" for share in (item.share_of_limit, item.share_of_copy)]
    for name in rivals:
        rival = item.rivals_us.get(name)
        cells.append("" if rival is None else f"{rival.value / mine:.3g}" if mine else f"{rival.value:.4g} µs")
    return [*map(plain, cells), plain(item.invalid or "") if mine is not None else ""]


def _against(item: Against) -> list[str]:
    def figure(value: float | None) -> str:
        return "" if value is None else f"{value:.3g}"

    shares = [f"{share:.0%}" for share in item.fast.values()]
    return [plain(item.baseline), str(item.timed), figure(item.geometric_mean), figure(item.median), *shares]
