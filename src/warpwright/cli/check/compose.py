"""`warpwright compose`: kernels for tasks or a folder of KernelBench files, by the composer alone."""

from __future__ import annotations

import traceback
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from warpwright.cli.check.check import ending, worst
from warpwright.cli.output import Json, emit
from warpwright.cli.search.beforehand import check_task, make_folder
from warpwright.cli.tasks.tasks import Inputs
from warpwright.core.errors import Exit
from warpwright.core.gpus.table import gpu_named
from warpwright.core.records.evidence import Verdict

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from warpwright.app.compose import Composed


def compose(
    context: typer.Context,
    places: Annotated[
        list[str], typer.Argument(metavar="TASK", help="As for `tasks show`, or a folder of KernelBench files.")
    ],
    inputs: Inputs = None,
    out: Annotated[
        Path, typer.Option("--out", metavar="FOLDER", help="Folder of the sources: NAME.cu, NAME.backward.cu ...")
    ] = Path("composed"),
    gpu: Annotated[str, typer.Option("--gpu", metavar="GPU", help="The GPU to write for, such as a100-80gb.")] = "h200",
    check: Annotated[bool, typer.Option("--check/--no-check", help="Keep no kernel that a rung refutes.")] = True,
    as_json: Json = False,
) -> None:
    """Write kernels by rule, with no model, and check them.

    One for each task that the composer supports; for the others the reason is printed. The exit code is 3 if a task has
    no kernel, or one that no rung refutes but not every rung accepts.
    """
    for place in places:
        check_task(place)
    gpu = gpu_named(gpu).name
    debug = context.find_root().params.get("debug")
    make_folder(out)
    told, endings = [], []
    with _composed(places, inputs or (), gpu, check, silent=as_json) as answers:
        for answer in answers:
            told.append(_kept(answer, out, silent=as_json))
            endings.append(_ending(answer))
            if answer.fault is not None and debug:
                traceback.print_exception(answer.fault)
    if as_json:
        emit("compose/1", composed=told)
    else:
        _sum_up(told, out)
    raise typer.Exit(worst(endings))


@contextmanager
def _composed(
    places: Sequence[str], inputs: Sequence[str], gpu: str, check: bool, silent: bool
) -> Iterator[Iterator[Composed]]:
    from warpwright.cli.screen import progress, waiting

    with waiting("starting", silent=silent):
        from warpwright.app.compose import compose_all
    with progress(silent=silent) as shown:
        yield compose_all(places, inputs=inputs, gpu=gpu, check=check, on_progress=shown)


def _ending(answer: Composed) -> Exit:
    """The exit code of `check` on the same source; a task without a source is undecided, unless that is our fault."""
    if answer.fault is not None:
        return Exit.OUR_FAULT
    if answer.dossier is not None:
        return ending(answer.dossier)
    return Exit.HOLDS if answer.candidate else Exit.UNDECIDED


def _kept(answer: Composed, out: Path, silent: bool) -> dict[str, Any]:
    """Writes and names the kernel of one task; the file is None if no source was kept."""
    from warpwright.cli.screen import plain, screen

    path, words = answer.save(out), answer.sentence
    if path is not None:
        words = f"{path}, {words[0].lower()}{words[1:]}"
    if not silent:
        # A file that cannot be loaded is named with its line already.
        said = words if words.startswith(answer.name) else f"{answer.name}: {words}"
        screen().print(plain(said), soft_wrap=True)
    file = str(path) if path else None
    ours = answer.fault is not None
    return {"task": answer.name, "file": file, "verdict": answer.verdict, "words": words, "our_fault": ours}


def _sum_up(told: list[dict[str, Any]], out: Path) -> None:
    from warpwright.cli.screen import plain, screen

    written = [item["verdict"] for item in told if item["file"] is not None]
    undecided = written.count(Verdict.UNDECIDED)
    open_still = f", {undecided} of them undecided" if undecided else ""
    faults = sum(item["our_fault"] for item in told)
    ours = f"; {faults} have none by a fault of ours, please report" if faults else ""
    said = f"{len(written)} of {len(told)} tasks have a kernel in {plain(out)}{open_still}{ours}."
    screen().print(said, soft_wrap=True)
