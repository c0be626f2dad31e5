"""`warpwright optimize`, and parts of the line by themselves: `translate`, `repair`, `tune`."""

from __future__ import annotations

from contextlib import AbstractContextManager
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from warpwright.cli.check.candidates import FastMath, GpuName, Kernel, TaskName
from warpwright.cli.output import Json
from warpwright.cli.search.beforehand import check_file, check_source, check_task
from warpwright.cli.search.options import (
    ArchivePlace,
    Dispatch,
    Dollars,
    Efforts,
    Language,
    Minutes,
    Models,
    Output,
    PerMinute,
    Record,
    Stream,
    Timeout,
    Unpriced,
)
from warpwright.cli.tasks.tasks import Inputs
from warpwright.core.errors import UsageError

if TYPE_CHECKING:
    from warpwright.search.settings import Settings


def optimize(
    task: Annotated[
        str | None, typer.Argument(metavar="TASK", help="A task, a KernelBench file, ref.py:fn, model.py:Net ...")
    ] = None,
    inputs: Inputs = None,
    models: Models = None,
    efforts: Efforts = None,
    budget: Dollars = None,
    minutes: Minutes = None,
    generations: Annotated[
        int | None, typer.Option("--generations", metavar="N", min=0, help="Rounds of breeding; 10 if not given.")
    ] = None,
    proposals: Annotated[int, typer.Option("--proposals", metavar="N", min=1, help="In each generation.")] = 8,
    evaluate: Annotated[int, typer.Option("--evaluate", metavar="N", min=1, help="Of them, how many are timed.")] = 4,
    gpu: GpuName = "h200",
    fast_math: FastMath = False,
    dispatch: Dispatch = "auto",
    start: Annotated[Path | None, typer.Option("--start", metavar="KERNEL.CU", help="A kernel to start from.")] = None,
    language: Language = "cuda",
    forward: Annotated[
        Path | None, typer.Option("--forward", metavar="KERNEL.CU", help="A forward kernel to derive a backward from.")
    ] = None,
    opinions: Annotated[
        str | None, typer.Option("--opinions", metavar="SPEC", help="A model whose opinions order the queue.")
    ] = None,
    composer: Annotated[bool, typer.Option("--composer/--no-composer", help="May kernels be composed?")] = True,
    resume: Annotated[str | None, typer.Option("--resume", metavar="RUN", help="Go on with a run.")] = None,
    seed: Annotated[int | None, typer.Option("--seed", metavar="N", help="Makes all choices repeatable.")] = None,
    output: Output = None,
    record: Record = None,
    stream: Stream = None,
    per_minute: PerMinute = None,
    timeout: Timeout = None,
    archive: ArchivePlace = None,
    allow_unpriced: Unpriced = False,
    as_json: Json = False,
) -> None:
    """Search for a fast kernel, with language models or without.

    Translates, verifies, repairs, evolves, and always keeps the best so far in a file.
    """
    asking = {"stream": stream, "per_minute": per_minute, "answer_seconds": timeout}
    if resume is not None:
        if task is not None:
            raise UsageError("--resume goes on with a run that has its task already; leave TASK out")
        with _starting(as_json):
            from warpwright.cli.search.searching import resume_run
        resume_run(
            resume,
            archive,
            budget=budget,
            minutes=minutes,
            generations=generations,
            asking=asking,
            as_json=as_json,
        )
        return
    if task is None:
        raise UsageError("say what to optimise, for example `warpwright optimize layernorm`, or --resume RUN")
    settings = _settings(
        task,
        inputs,
        models,
        efforts,
        budget,
        minutes,
        gpu,
        fast_math,
        dispatch,
        output,
        record,
        allow_unpriced,
        language,
    )
    from dataclasses import replace

    check_source(start)
    check_source(forward)
    policy = replace(settings.policy, proposals=proposals, evaluate=evaluate, composer=composer)
    policy = policy if generations is None else replace(policy, generations=generations)
    settings = replace(
        settings,
        policy=policy,
        start=str(start) if start else None,
        forward=str(forward) if forward else None,
        opinions=opinions,
        stream=stream,
        per_minute=per_minute,
        answer_seconds=timeout,
    )
    with _starting(as_json):
        from warpwright.cli.search.searching import search
    search(settings, archive, seed=seed, as_json=as_json)


def translate(
    task: Annotated[str, typer.Argument(metavar="TASK", help="As for optimize.")],
    inputs: Inputs = None,
    models: Models = None,
    efforts: Efforts = None,
    budget: Dollars = None,
    gpu: GpuName = "h200",
    fast_math: FastMath = False,
    dispatch: Dispatch = "auto",
    language: Language = "cuda",
    output: Output = None,
    record: Record = None,
    stream: Stream = None,
    per_minute: PerMinute = None,
    timeout: Timeout = None,
    archive: ArchivePlace = None,
    allow_unpriced: Unpriced = False,
    as_json: Json = False,
) -> None:
    """Find the first right kernel for a PyTorch function.

    With as many repairs as it takes, ten attempts at most.
    """
    from dataclasses import replace

    settings = _settings(
        task, inputs, models, efforts, budget, None, gpu, fast_math, dispatch, output, record, allow_unpriced, language
    )
    settings = replace(settings, stream=stream, per_minute=per_minute, answer_seconds=timeout)
    with _starting(as_json):
        from warpwright.cli.search.searching import search
    search(replace(settings, policy=replace(settings.policy, generations=0)), archive, as_json=as_json)


def repair(
    kernel: Kernel,
    task: TaskName,
    inputs: Inputs = None,
    models: Models = None,
    efforts: Efforts = None,
    budget: Dollars = None,
    gpu: GpuName = "h200",
    fast_math: FastMath = False,
    dispatch: Dispatch = "auto",
    output: Output = None,
    record: Record = None,
    stream: Stream = None,
    per_minute: PerMinute = None,
    timeout: Timeout = None,
    archive: ArchivePlace = None,
    allow_unpriced: Unpriced = False,
    as_json: Json = False,
) -> None:
    """Mend a kernel that is wrong, one issue after the other."""
    from dataclasses import replace

    if not models:
        raise UsageError("a repair needs a model to ask; give --model, for example --model anthropic:NAME")
    check_source(kernel)
    settings = _settings(
        task, inputs, models, efforts, budget, None, gpu, fast_math, dispatch, output, record, allow_unpriced
    )
    settings = replace(settings, stream=stream, per_minute=per_minute, answer_seconds=timeout)
    policy = replace(settings.policy, generations=0, repair_depth=settings.policy.attempts)
    with _starting(as_json):
        from warpwright.cli.search.searching import search
    search(replace(settings, policy=policy, start=str(kernel)), archive, as_json=as_json)


def tune(
    kernel: Kernel,
    task: TaskName,
    inputs: Inputs = None,
    most: Annotated[int, typer.Option("--most", metavar="N", min=2, help="Settings to try.")] = 16,
    merge: Annotated[bool, typer.Option("--merge", help="Also merge the winners of different shapes.")] = False,
    gpu: GpuName = "h200",
    fast_math: FastMath = False,
    dispatch: Annotated[str, typer.Option("--dispatch", metavar="PLACE", help="auto, local or predict.")] = "auto",
    output: Annotated[
        Path | None,
        typer.Option("--output", "-o", metavar="FILE", help="Where the best is written; KERNEL.tuned.cu if not given."),
    ] = None,
    archive: ArchivePlace = None,
    as_json: Json = False,
) -> None:
    """Find the best values for constants that a kernel leaves open.

    A comment such as `// tune: BLOCK = 64, 128, 256` before what sets BLOCK leaves it open.
    """
    from dataclasses import replace

    check_source(kernel)
    written = output or kernel.with_suffix(f".tuned{kernel.suffix}")
    check_file(written)
    settings = _settings(task, inputs, None, None, None, None, gpu, fast_math, dispatch, written, None, False)
    with _starting(as_json):
        from warpwright.cli.search.searching import tune_kernel
    tune_kernel(replace(settings, start=str(kernel)), archive, most=most, merge=merge, as_json=as_json)


def _starting(as_json: bool) -> AbstractContextManager[object]:
    """What drives a search imports torch, which takes seconds."""
    from warpwright.cli.screen import waiting

    return waiting("starting", silent=as_json)


def _settings(
    task: str,
    inputs: list[str] | None,
    models: list[str] | None,
    efforts: list[str] | None,
    budget: float | None,
    minutes: float | None,
    gpu: str,
    fast_math: bool,
    dispatch: str,
    output: Path | None,
    record: Path | None,
    allow_unpriced: bool,
    language: str = "cuda",
) -> Settings:
    from warpwright import languages
    from warpwright.core.candidate import Flags
    from warpwright.core.gpus.table import gpu_named
    from warpwright.core.records.search import Arm
    from warpwright.evolve.policy import Budget, Policy
    from warpwright.search.settings import Settings

    check_task(task)
    check_file(record)
    arms = tuple(Arm(model=model, effort=effort) for model in models or () for effort in efforts or (None,))
    limits = Budget(usd=budget, wall_seconds=None if minutes is None else minutes * 60)
    return Settings(
        task=task,
        inputs=tuple(inputs or ()),
        flags=Flags(gpu=gpu_named(gpu).name, fast_math=fast_math),
        policy=Policy(arms=arms, budget=limits),
        dispatch=dispatch,
        allow_unpriced=allow_unpriced,
        record=str(record) if record else None,
        language=languages.named(language).name,
        output=str(output or Path(languages.file_name(f"{_file_name(task)}.best", language))),
    )


def _file_name(task: str) -> str:
    """What a task is called in the name of a file."""
    return Path(task).name.replace(":", "-").removesuffix(".py").replace(".py-", "-")
