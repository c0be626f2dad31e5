"""`warpwright optimize`, and single steps of it: `translate`, `repair`, `tune`."""

from __future__ import annotations

from contextlib import AbstractContextManager
from dataclasses import asdict, replace
from typing import TYPE_CHECKING, Annotated

import typer

from warpwright.cli.check.candidates import Compiled, Kernel, TaskName
from warpwright.cli.grouped import grouped
from warpwright.cli.output import Json, emit
from warpwright.cli.search.beforehand import check_file, check_source, check_task
from warpwright.cli.search.options import ArchivePlace, Asked, Breeding, Minutes, Resumed, Start, Tuning
from warpwright.cli.tasks.tasks import Inputs
from warpwright.core.errors import Undecided, UsageError

if TYPE_CHECKING:
    from warpwright.evolve.policy import Policy
    from warpwright.search.settings import Settings


@grouped
def optimize(
    asked: Asked,
    breeding: Breeding,
    resumed: Resumed,
    start: Start,
    task: Annotated[
        str | None, typer.Argument(metavar="TASK", help="A task, a KernelBench file, ref.py:fn, model.py:Net ...")
    ] = None,
    minutes: Minutes = None,
    archive: ArchivePlace = None,
    as_json: Json = False,
) -> None:
    """Search for a fast kernel, with language models or without.

    Translates, verifies, repairs, evolves, and always keeps the best kernel so far in a file.
    """
    if resumed.resume is not None:
        if task is not None:
            raise UsageError("--resume goes on with a run that has its task already; leave TASK out")
        _resume(resumed.resume, asked, minutes, breeding.generations, archive, as_json)
        return
    if task is None:
        raise UsageError("say what to optimise, for example `warpwright optimize layernorm`, or --resume RUN")
    check_source(start.start)
    check_source(start.forward)
    settings = _settings(task, asked, breeding.policy(), minutes)
    settings = replace(
        settings,
        start=str(start.start) if start.start else None,
        forward=str(start.forward) if start.forward else None,
        opinions=start.opinions,
    )
    _search(settings, archive, as_json, resumed.seed)


@grouped
def translate(
    task: Annotated[str, typer.Argument(metavar="TASK", help="As for optimize.")],
    asked: Asked,
    archive: ArchivePlace = None,
    as_json: Json = False,
) -> None:
    """Find the first correct kernel for a PyTorch function.

    Repairs as often as necessary, in ten attempts at most.
    """
    with _starting(as_json):
        from warpwright.app.searches.optimize import TRANSLATION
    _search(_settings(task, asked, TRANSLATION), archive, as_json)


@grouped
def repair(
    kernel: Kernel,
    task: TaskName,
    asked: Asked,
    archive: ArchivePlace = None,
    as_json: Json = False,
) -> None:
    """Repair a wrong kernel, one issue after the other."""
    if not asked.models:
        raise UsageError("a repair needs a model to ask; give --model, for example --model anthropic:NAME")
    check_source(kernel)
    with _starting(as_json):
        from warpwright.app.searches.optimize import REPAIR
    _search(replace(_settings(task, asked, REPAIR), start=str(kernel)), archive, as_json)


@grouped
def tune(
    kernel: Kernel,
    task: TaskName,
    compiled: Compiled,
    tuning: Tuning,
    inputs: Inputs = None,
    archive: ArchivePlace = None,
    as_json: Json = False,
) -> None:
    """Find the best values for constants that a kernel leaves open.

    A comment such as `// tune: BLOCK = 64, 128, 256` before the definition of BLOCK leaves it open.
    """
    check_source(kernel)
    written = tuning.output or kernel.with_suffix(f".tuned{kernel.suffix}")
    check_file(written)
    check_task(task)
    with _starting(as_json):
        from warpwright.app.searches.tune import tune as tune_kernel
        from warpwright.cli.screen import progress
        from warpwright.cli.search.searching import show_tuned
        from warpwright.search.run import write_atomically
    with progress(silent=as_json) as told:
        found = tune_kernel(
            compiled.file(kernel), task, inputs=inputs or (), most=tuning.most, merge=tuning.merge, gpu=compiled.gpu,
            fast_math=compiled.fast_math, dispatch=tuning.dispatch, archive=archive, on_progress=told,
        )  # fmt: skip
    if found.source is not None:
        write_atomically(written, found.source.encode("utf-8", errors="surrogateescape"))
    if as_json:
        emit("tune/1", **found.document(), output=str(written) if found.best else None)
    else:
        show_tuned(found, str(written))
    if found.best is None:
        raise Undecided(
            "no setting was found right and could be scored; `warpwright check` says what is wrong with one"
        )


def _settings(task: str, asked: Asked, policy: Policy, minutes: float | None = None) -> Settings:
    from warpwright.app.searches.settings import default_output, settings_for

    check_task(task)
    check_file(asked.record)
    output = asked.output or default_output(task, asked.language)
    given = {name: value for name, value in asdict(asked).items() if value is not None}
    return settings_for(task, policy, {**given, "minutes": minutes, "output": output})  # type: ignore[typeddict-item]


def _search(settings: Settings, archive: str | None, as_json: bool, seed: int | None = None) -> None:
    with _starting(as_json):
        from warpwright.app.searches.optimize import begun
        from warpwright.cli.search.searching import announce, drive
    with begun(settings, archive, seed=seed) as search:
        if not as_json:
            announce(search)
        drive(search, as_json)


def _resume(
    run: str, asked: Asked, minutes: float | None, generations: int | None, archive: str | None, as_json: bool
) -> None:
    with _starting(as_json):
        from warpwright.app.searches.optimize import resumed
        from warpwright.cli.search.searching import drive
    with resumed(
        run, archive, budget=asked.budget, minutes=minutes, generations=generations, stream=asked.stream,
        per_minute=asked.per_minute, timeout=asked.timeout,
    ) as search:  # fmt: skip
        drive(search, as_json)


def _starting(as_json: bool) -> AbstractContextManager[object]:
    """Imports the search, and with it torch, which takes seconds."""
    from warpwright.cli.screen import waiting

    return waiting("starting", silent=as_json)
