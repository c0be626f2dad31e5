"""`warpwright bench` and `warpwright compare`: check and time on the GPU of this machine."""

from __future__ import annotations

import math
from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from warpwright.cli.bench.options import Baselines, Seconds, SuiteOptions, Watching
from warpwright.cli.check.candidates import Compiled, Dtypes, PrecisionName, TaskName, TrustTask, subject
from warpwright.cli.grouped import grouped
from warpwright.cli.output import Json, emit
from warpwright.cli.search.beforehand import check_file
from warpwright.cli.tasks.tasks import Inputs
from warpwright.core.errors import Exit, UsageError
from warpwright.core.records.evidence import Verdict

if TYPE_CHECKING:
    from warpwright.app.given import Subject
    from warpwright.app.kernels.bench import Benched


@grouped
def bench(
    suite: SuiteOptions,
    compiled: Compiled,
    watching: Watching,
    kernel: Annotated[Path | None, typer.Argument(metavar="KERNEL.CU", help="One .cu file, for --task.")] = None,
    task: Annotated[str | None, typer.Option("--task", metavar="TASK", help="As for `warpwright tasks show`.")] = None,
    inputs: Inputs = None,
    dtypes: Dtypes = None,
    trust_task: TrustTask = False,
    precision: PrecisionName = None,
    baselines: Baselines = None,
    seconds: Seconds = 1.0,
    min_speed_up: Annotated[
        float | None,
        typer.Option(
            "--min-speedup", metavar="FACTOR", help="Exit 1 unless the lower bound of every case is above this."
        ),
    ] = None,
    max_memory_ratio: Annotated[
        float | None,
        typer.Option(
            "--max-memory-ratio",
            metavar="FACTOR",
            help="Exit 1 unless every case needs at most so many times the memory of eager PyTorch, beyond the inputs.",
        ),
    ] = None,
    as_json: Json = False,
) -> None:
    """Check and time a kernel, or a suite, on this machine's GPU.

    Every timed call is checked too. The kernel is timed in turns with torch's implementations.
    """
    if suite.suite is not None:
        if kernel is not None or task is not None:
            raise UsageError("--suite brings its own tasks; put kernels into a folder and name it with --kernels")
        run = _benchmark if ":" in suite.suite else _suite
        run(suite, compiled, precision, baselines, seconds, as_json)
        return
    for option, factor in (("--min-speedup", min_speed_up), ("--max-memory-ratio", max_memory_ratio)):
        if factor is not None and math.isnan(factor):
            raise UsageError(f"{option} is a number such as 1.05")
    check_file(watching.ncu_report)
    if kernel is None or task is None:
        raise UsageError("say what to time: KERNEL.CU --task TASK, or --suite SUITE")
    asked = subject(task, inputs, precision=precision, dtypes=dtypes, trusted=trust_task, silent=as_json)
    found = _bench(kernel, asked, compiled, watching, baselines, seconds, silent=as_json)
    _show([found], as_json)
    raise typer.Exit(_exit_code(found, min_speed_up, max_memory_ratio))


def _bench(
    kernel: Path,
    asked: Subject,
    compiled: Compiled,
    watching: Watching,
    baselines: list[str] | None,
    seconds: float,
    silent: bool,
) -> Benched:
    from warpwright.app.kernels.bench import bench as bench_kernel
    from warpwright.cli.screen import progress

    with progress(silent=silent) as told:
        return bench_kernel(
            compiled.file(kernel),
            asked,
            baselines=baselines,
            seconds=seconds,
            profile=watching.profile,
            report=watching.ncu_report,
            sanitize=watching.sanitize,
            gpu=compiled.gpu,
            fast_math=compiled.fast_math,
            on_progress=told,
        )


def _suite(
    suite: SuiteOptions,
    compiled: Compiled,
    precision: str | None,
    baselines: list[str] | None,
    seconds: float,
    silent: bool,
) -> None:
    from warpwright.app.kernels.suite import bench_suite
    from warpwright.cli.screen import progress

    with progress(silent=silent) as told:
        found = bench_suite(
            suite.suite or "",
            kernels=suite.kernels,
            folder=suite.out,
            timed=suite.timed,
            precision=precision,
            baselines=baselines,
            seconds=seconds,
            gpu=compiled.gpu,
            fast_math=compiled.fast_math,
            on_progress=told,
        )
    if silent:
        judged = list(found.judged.values())
        emit("bench.suite/1", overview=found.overview, judged=judged, refused=found.refused)
    else:
        from warpwright.cli.bench.suite import show_suite

        show_suite(found)


def _benchmark(
    suite: SuiteOptions,
    compiled: Compiled,
    precision: str | None,
    baselines: list[str] | None,
    seconds: float,
    silent: bool,
) -> None:
    from warpwright.app.kernels.benchmark import run_benchmark
    from warpwright.cli.screen import progress

    with progress(silent=silent) as told:
        found = run_benchmark(
            suite.suite or "",
            levels=tuple(suite.levels.split(",")) if suite.levels else (),
            kernels=suite.kernels,
            folder=suite.out,
            shard=_part(suite.shard),
            precision=precision,
            baselines=baselines,
            seconds=seconds,
            gpu=compiled.gpu,
            fast_math=compiled.fast_math,
            on_progress=told,
        )
    if silent:
        emit("bench.benchmark/1", rows=found.rows, totals=found.totals)
    else:
        from warpwright.cli.bench.benchmark import show_benchmark

        show_benchmark(found)


def _part(shard: str) -> tuple[int, int]:
    number, _, parts = shard.partition("/")
    if not (number.isdigit() and parts.isdigit()):
        raise UsageError("--shard is two numbers, such as 1/4 for the first of four parts")
    return int(number), int(parts)


@grouped
def compare(
    kernels: Annotated[list[Path], typer.Argument(metavar="KERNEL.CU", help="Candidates for the same task.")],
    task: TaskName,
    compiled: Compiled,
    inputs: Inputs = None,
    dtypes: Dtypes = None,
    trust_task: TrustTask = False,
    precision: PrecisionName = None,
    seconds: Seconds = 1.0,
    as_json: Json = False,
) -> None:
    """Check and time several kernels for one task beside each other.

    Each is timed in turns with the correct ones before it and with the eager reference.
    """
    from warpwright.app.kernels.bench import compare as compare_kernels
    from warpwright.cli.screen import progress

    asked = subject(task, inputs, precision=precision, dtypes=dtypes, trusted=trust_task, silent=as_json)
    with progress(silent=as_json) as told:
        found = compare_kernels(
            list(map(compiled.file, kernels)),
            asked,
            seconds=seconds,
            gpu=compiled.gpu,
            fast_math=compiled.fast_math,
            on_progress=told,
        )
    _show(found, as_json)
    raise typer.Exit(max(_exit_code(item) for item in found))


def _show(benched: Sequence[Benched], as_json: bool) -> None:
    """Returns the judged and refused kernels; a kernel that can be neither sealed nor refuted ends the command."""
    from warpwright.app.kernels.bench import documents, undecided
    from warpwright.cli.bench.standings import show_judged
    from warpwright.cli.check.verdicts import show_refusal
    from warpwright.cli.screen import plain, screen

    for item in benched:
        if (error := undecided(item)) is not None:
            raise error
    if as_json:
        emit("bench/1", **documents(benched))
        return
    for item in benched:
        if item.judged is not None:
            show_judged(item.subject.task, item.judged)
        if item.refusal is not None:
            show_refusal(item.refusal.verdict, item.refusal.counterexample, item.refusal.reason)
        if item.limited_by:
            screen().print(plain(item.limited_by))


def _exit_code(benched: Benched, least: float | None = None, most_memory: float | None = None) -> Exit:
    if benched.verdict is Verdict.REFUTED:
        return Exit.REFUTED
    if benched.untimed_cases:
        return Exit.OUR_FAULT
    gain, memory = benched.least_speed_up, benched.most_memory_ratio
    is_fast = least is None or (gain is not None and gain > least)
    is_small = most_memory is None or (memory is not None and memory <= most_memory)
    return Exit.HOLDS if is_fast and is_small else Exit.REFUTED
