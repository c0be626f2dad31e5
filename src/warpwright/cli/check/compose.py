"""`warpwright compose`: kernels for tasks or a folder of KernelBench files, by the composer alone."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from warpwright.cli.check.check import ending, worst
from warpwright.cli.output import Json, emit
from warpwright.cli.search.beforehand import check_task, make_folder
from warpwright.cli.tasks.tasks import Inputs
from warpwright.core.errors import Exit, UsageError
from warpwright.core.records.evidence import Verdict

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from warpwright.compose.survey import Surveyed
    from warpwright.core.records.evidence import Dossier


def compose(
    places: Annotated[
        list[str], typer.Argument(metavar="TASK", help="As for `tasks show`, or a folder of KernelBench files.")
    ],
    inputs: Inputs = None,
    out: Annotated[
        Path, typer.Option("--out", metavar="FOLDER", help="Where the sources go: NAME.cu, NAME.backward.cu ...")
    ] = Path("composed"),
    check: Annotated[bool, typer.Option("--check/--no-check", help="Keep nothing that a rung here refutes.")] = True,
    as_json: Json = False,
) -> None:
    """Write kernels by rule, with no model, and check them.

    One for each task that the composer understands; of the others it is said what is in the way. It ends with 3 where
    a task has no kernel, or one that no rung refutes and not every rung lets pass.
    """
    for place in places:
        check_task(place)
    make_folder(out)
    answers = _surveyed(places, inputs or ())
    told, endings = [], []
    while (answer := _next(answers, as_json)) is not None:
        dossier = _checked(answer, as_json) if check and answer.sources else None
        told.append(_told(answer, dossier, out, silent=as_json))
        endings.append(_ending(answer, dossier))
    if as_json:
        emit("compose/1", composed=told)
    else:
        _sum_up(told, out)
    raise typer.Exit(worst(endings))


def _next(answers: Iterator[Surveyed], silent: bool) -> Surveyed | None:
    from warpwright.cli.screen import waiting

    with waiting("composing", silent=silent):
        return next(answers, None)


def _surveyed(places: Sequence[str], inputs: Sequence[str]) -> Iterator[Surveyed]:
    """One after the other. Among many a task that cannot be loaded is named; alone it is a mistake."""
    from warpwright.compose.survey import survey, surveyed
    from warpwright.tasks import load

    if inputs and len(places) > 1:
        raise UsageError("--input describes one function; give exactly one TASK with it")
    for answer in map(surveyed, load(places[0], inputs=inputs)) if inputs else survey(places):
        if answer.task is None and [answer.name] == list(places):
            raise UsageError(answer.reason or f"{answer.name} cannot be loaded")
        yield answer


def _ending(answer: Surveyed, dossier: Dossier | None) -> Exit:
    """As `check` would end on the same source; a task without one stays undecided."""
    if dossier is not None:
        return ending(dossier)
    return Exit.HOLDS if answer.sources else Exit.UNDECIDED


def _told(answer: Surveyed, dossier: Dossier | None, out: Path, silent: bool) -> dict[str, Any]:
    """What became of one task; its file is None unless a source was kept.

    What is undecided here is kept: nothing speaks against it, and another machine may tell.
    """
    from warpwright.cli.screen import plain, screen

    refuted = dossier is not None and dossier.verdict is Verdict.REFUTED
    kept = _kept(answer, out) if answer.sources and not refuted else None
    words = answer.reason or _words(dossier, kept)
    if not silent:
        # What cannot be loaded is named by file and line already.
        said = words if words.startswith(answer.name) else f"{answer.name}: {words}"
        screen().print(plain(said), soft_wrap=True)
    return {
        "task": answer.name,
        "file": str(kept) if kept else None,
        "verdict": dossier.verdict if dossier else None,
        "words": words,
    }


def _checked(answer: Surveyed, silent: bool) -> Dossier:
    from warpwright.cli.screen import waiting
    from warpwright.core.candidate import Candidate
    from warpwright.verify.ladder import climb

    assert answer.task is not None
    with waiting(f"checking {answer.name}", silent=silent):
        return climb(answer.task, Candidate(source=answer.sources[0])).dossier


def _kept(answer: Surveyed, out: Path) -> Path:
    assert answer.task is not None
    direction = "" if answer.task.direction == "forward" else f".{answer.task.direction}"
    path = out / f"{answer.task.name}{direction}.cu"
    path.write_text(answer.sources[0], encoding="utf-8")
    return path


def _words(dossier: Dossier | None, kept: Path | None) -> str:
    from warpwright.cli.check.verdicts import sentence

    said = sentence(dossier) if dossier else "not checked."
    return f"{kept}, {said[0].lower()}{said[1:]}" if kept else said


def _sum_up(told: list[dict[str, Any]], out: Path) -> None:
    from warpwright.cli.screen import plain, screen

    written = [item["verdict"] for item in told if item["file"] is not None]
    undecided = written.count(Verdict.UNDECIDED)
    open_still = f", {undecided} of them undecided" if undecided else ""
    screen().print(f"{len(written)} of {len(told)} tasks have a kernel in {plain(out)}{open_still}.", soft_wrap=True)
