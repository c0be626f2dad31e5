"""Checking one kernel or many, for `check` and `verifiers evaluate`: on all cores, each against its own task."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import Any

from warpwright import languages
from warpwright.cli.check.candidates import one_task, pastime, read_candidate
from warpwright.cli.check.verdicts import details, sentence, show_dossier, warnings
from warpwright.cli.screen import plain, progress, screen, waiting
from warpwright.core.candidate import Candidate
from warpwright.core.dtypes import dtype_named
from warpwright.core.errors import UsageError
from warpwright.core.records.evidence import Dossier, Verdict
from warpwright.core.task import Task
from warpwright.dispatch.pool import parallel
from warpwright.verify.evaluation import Label, read_labels


@dataclass(frozen=True, slots=True, kw_only=True)
class Piece:
    """A kernel, and what it should do."""

    path: Path
    task: Task
    label: Label | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class Checked:
    path: Path
    source: str
    dossier: Dossier


def pieces(place: Path, task: str, inputs: Sequence[str]) -> list[Piece]:
    """One file, or every kernel of a folder, for the same task."""
    asked = one_task(task, list(inputs))
    files = languages.files_in(place) if place.is_dir() else [place]
    if not files:
        raise UsageError(f"{place}: there is no {' or '.join(languages.file_endings())} file in it")
    return [Piece(path=path, task=asked) for path in files]


def labelled(place: Path, labels: Path) -> list[Piece]:
    """The kernels that a labels.csv names and that lie in a folder, each for its own task."""
    inside = place.resolve()
    rows = [row for row in read_labels(labels) if row.path.resolve().is_relative_to(inside)]
    if not rows:
        raise UsageError(f"{labels} names no file in {place}")
    tasks = {name: one_task(name) for name in dict.fromkeys(row.task for row in rows)}
    return [Piece(path=row.path, task=tasks[row.task], label=row) for row in rows]


def check_all(
    work: Sequence[Piece], *, gpu: str, fast_math: bool, dtypes: Sequence[str], jobs: int | None, silent: bool
) -> list[Checked]:
    """Every kernel, in the order given, with a bar while it lasts."""
    wanted = tuple(dtype_named(name).name for name in dtypes)
    check_one = partial(_check, gpu=gpu, fast_math=fast_math, dtypes=wanted)
    if len(work) == 1:
        with waiting(pastime(f"checking {work[0].path.name}"), silent=silent):
            return [check_one(work[0])]
    with progress(silent=silent) as bar:
        return parallel(check_one, work, jobs=jobs, progress=bar, label=lambda piece: piece.path.name)


def _check(piece: Piece, gpu: str, fast_math: bool, dtypes: tuple[str, ...]) -> Checked:
    candidate = read_candidate(piece.path, gpu, fast_math)
    wanted = dtypes or (piece.label.dtypes if piece.label else ())
    return Checked(path=piece.path, source=candidate.source, dossier=_climbed(piece.task, candidate, wanted))


def _climbed(task: Task, candidate: Candidate, dtypes: tuple[str, ...]) -> Dossier:
    from warpwright.verify.ladder import climb

    cases = tuple(case for case in task.cases if not dtypes or case.dtype in dtypes)
    if not cases:
        raise UsageError(f"{task.key} has no case of type {', '.join(dtypes)}")
    return climb(task, candidate, cases if dtypes else None).dossier


def show(checked: Sequence[Checked], *, verbose: bool) -> None:
    if len(checked) == 1:
        show_dossier(checked[0].dossier, checked[0].source, verbose=verbose)
        return
    for item in checked:
        screen().print(f"{plain(item.path.name)}: {plain(sentence(item.dossier))}", soft_wrap=True)
    counts = {verdict: sum(item.dossier.verdict is verdict for item in checked) for verdict in Verdict}
    shown = ", ".join(f"{count} {verdict}" for verdict, count in counts.items() if count)
    screen().print(f"{len(checked)} kernels: {shown}.")


def data(item: Checked) -> dict[str, Any]:
    """For programs: the verdict first, then the words, then everything."""
    return {
        "file": str(item.path),
        "verdict": item.dossier.verdict,
        "sentence": sentence(item.dossier),
        "where": details(item.dossier, item.source),
        "warnings": warnings(item.dossier),
        "dossier": item.dossier,
    }
