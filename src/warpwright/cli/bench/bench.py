"""`warpwright bench` and `warpwright compare`: checked and timed on the GPU of this machine."""

from __future__ import annotations

import math
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from warpwright.cli.check.candidates import FastMath, GpuName, TaskName, one_task, read_candidate
from warpwright.cli.output import Json, emit
from warpwright.cli.search.beforehand import check_file
from warpwright.cli.tasks.tasks import Inputs
from warpwright.core.errors import Exit, Undecided, UsageError
from warpwright.core.records.evidence import Verdict

if TYPE_CHECKING:
    from warpwright.core.launch.sealed import Sealed
    from warpwright.core.records.judged import Asked, Job, Judged
    from warpwright.core.task import Task

Baselines = Annotated[
    list[str] | None,
    typer.Option(
        "--baseline",
        metavar="NAME",
        help="eager, compile, max-autotune, or one the task names; repeat it. All if none.",
    ),
]
Seconds = Annotated[
    float,
    typer.Option("--seconds", metavar="SECONDS", min=0.1, help="At most this long for each case and cache state."),
]


def bench(
    kernel: Annotated[Path | None, typer.Argument(metavar="KERNEL.CU", help="One .cu file, for --task.")] = None,
    task: Annotated[str | None, typer.Option("--task", metavar="TASK", help="As for `warpwright tasks show`.")] = None,
    suite: Annotated[
        str | None, typer.Option("--suite", metavar="SUITE", help="Instead: a whole suite, paper or modern.")
    ] = None,
    kernels: Annotated[
        Path | None,
        typer.Option(
            "--kernels", metavar="FOLDER", help="With --suite: NAME.cu, NAME.backward.cu ...; else baselines only."
        ),
    ] = None,
    out: Annotated[
        Path | None,
        typer.Option("--out", metavar="FOLDER", help="With --suite: its folder, to stop and go on; else bench-SUITE."),
    ] = None,
    timed: Annotated[
        int | None,
        typer.Option("--cases", metavar="N", min=1, help="With --suite: time so many cases of each task; else all."),
    ] = None,
    gpu: GpuName = "h200",
    fast_math: FastMath = False,
    inputs: Inputs = None,
    baselines: Baselines = None,
    seconds: Seconds = 1.0,
    min_speed_up: Annotated[
        float | None,
        typer.Option(
            "--min-speedup", metavar="FACTOR", help="Exit 1 unless the lower bound of every case is above this."
        ),
    ] = None,
    profile: Annotated[bool, typer.Option("--profile", help="Say in one sentence what holds it back.")] = False,
    ncu_report: Annotated[
        Path | None, typer.Option("--ncu-rep", metavar="FILE", help="Keep the profiler's report of one call.")
    ] = None,
    sanitize: Annotated[
        bool, typer.Option("--sanitize", help="Run compute-sanitizer's four tools on one call as well.")
    ] = False,
    as_json: Json = False,
) -> None:
    """Check and time a kernel, or a suite, on this machine's GPU.

    Every timed call is checked too. Times are taken in turns with torch's own answers.
    """
    if suite is not None:
        from warpwright.cli.bench.suite import bench_suite

        if kernel is not None or task is not None:
            raise UsageError("--suite brings its own tasks; put kernels into a folder and name it with --kernels")
        folder = out or Path(f"bench-{suite}")
        wanted = asked(baselines, seconds)
        bench_suite(suite, kernels, folder, timed, gpu=gpu, fast_math=fast_math, asked=wanted, as_json=as_json)
        return
    if min_speed_up is not None and math.isnan(min_speed_up):
        raise UsageError("--min-speedup is a number such as 1.05")
    check_file(ncu_report)
    if kernel is None or task is None:
        raise UsageError("say what to time: KERNEL.CU --task TASK, or --suite SUITE")
    from warpwright.cli.bench.watching import sanitized, watched

    asked_task = one_task(task, inputs, silent=as_json)
    jobs = jobs_for(asked_task, [kernel], gpu, fast_math, asked(baselines, seconds), silent=as_json)
    (judged,) = _judged(jobs, silent=as_json)
    if sanitize:
        judged = sanitized(jobs[0], judged, silent=as_json)
    limits = watched(jobs[0], ncu_report, silent=as_json) if profile or ncu_report else None
    _render(asked_task, [judged], as_json, limits)
    raise typer.Exit(_exit_code(asked_task, judged, min_speed_up))


def compare(
    kernels: Annotated[list[Path], typer.Argument(metavar="KERNEL.CU", help="Candidates for the same task.")],
    task: TaskName,
    gpu: GpuName = "h200",
    fast_math: FastMath = False,
    inputs: Inputs = None,
    seconds: Seconds = 1.0,
    as_json: Json = False,
) -> None:
    """Check and time several kernels for one task beside each other.

    Each takes turns with those before it that are right, and with the eager reference.
    """
    if len(kernels) < 2:
        raise UsageError("a comparison needs at least two candidates; `warpwright bench` times one")
    if len({kernel.name for kernel in kernels}) < len(kernels):
        raise UsageError("two of the files have the same name: their rows could not be told apart")
    asked_task = one_task(task, inputs, silent=as_json)
    jobs = jobs_for(asked_task, kernels, gpu, fast_math, asked(["eager"], seconds), silent=as_json)
    judged = _judged(jobs, silent=as_json)
    _render(asked_task, judged, as_json)
    raise typer.Exit(max(_exit_code(asked_task, item, None) for item in judged))


def asked(baselines: list[str] | None, seconds: float) -> Asked:
    from warpwright.core.records.judged import Asked

    return Asked(baselines=None if baselines is None else tuple(baselines), seconds_per_case=seconds)


def _judged(jobs: list[Job], silent: bool) -> list[Judged]:
    """One after the other, each also beside those before it that are right."""
    from warpwright.cli.screen import waiting
    from warpwright.dispatch.local import judge_here

    right: dict[str, Sealed] = {}
    found: list[Judged] = []
    with waiting("judging", silent=silent):
        for judged in judge_here(replace(job, against=dict(right)) for job in jobs):
            sealed = jobs[len(found)].sealed
            if sealed is not None and {item.verdict for item in judged.evidence} == {Verdict.HOLDS}:
                right[judged.label] = sealed
            found.append(judged)
    return found


def jobs_for(task: Task, kernels: list[Path], gpu: str, fast_math: bool, wanted: Asked, silent: bool) -> list[Job]:
    """Seals every file; the first that cannot be sealed ends it with the reason."""
    from warpwright.cli.check.verdicts import show_refusal
    from warpwright.cli.screen import waiting
    from warpwright.dispatch.sealed_jobs import sealed_jobs
    from warpwright.seal.refusal import Refusal

    candidates = [(kernel.name, read_candidate(kernel, gpu, fast_math)) for kernel in kernels]
    with waiting("sealing", silent=silent):
        outcomes = sealed_jobs(task, candidates, wanted)
    jobs = []
    for label, outcome in outcomes:
        if isinstance(outcome, Refusal):
            if outcome.verdict is Verdict.UNDECIDED:
                raise Undecided(f"{label}: {outcome.reason}")
            show_refusal(outcome.verdict, outcome.counterexample, outcome.reason)
            raise typer.Exit(Exit.REFUTED)
        jobs.append(outcome)
    return jobs


def _render(task: Task, judged: list[Judged], as_json: bool, limits: str | None = None) -> None:
    from warpwright.report.standings import standings, summary

    if as_json:
        stood = {item.label: standings(task, item) for item in judged}
        emit(
            "bench/1",
            judged=judged,
            standings=stood,
            summaries={label: summary(items) for label, items in stood.items()},
            limited_by=limits,
        )
        return
    from warpwright.cli.bench.standings import show_judged

    for item in judged:
        show_judged(task, item)
    if limits:
        from warpwright.cli.screen import plain, screen

        screen().print(plain(limits))


def _exit_code(task: Task, judged: Judged, least: float | None) -> Exit:
    from warpwright.report.standings import standings

    if any(item.verdict is Verdict.REFUTED for item in judged.evidence):
        return Exit.REFUTED
    if judged.faults and not judged.measurements:
        return Exit.OUR_FAULT
    if least is not None:
        bounds = [item.speed_up.low if item.speed_up and not item.invalid else 0.0 for item in standings(task, judged)]
        return Exit.HOLDS if bounds and min(bounds) > least else Exit.REFUTED
    return Exit.HOLDS
