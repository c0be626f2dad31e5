"""Kernels written by rule, with no model, and checked."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

from warpwright import languages
from warpwright.app.given import Inputs, TaskLike, subject_of
from warpwright.app.progress import OnProgress, Reporter
from warpwright.core.candidate import Candidate, Flags
from warpwright.core.errors import OurFault, UsageError
from warpwright.core.gpus.table import gpu_named
from warpwright.core.records.evidence import Dossier, Verdict
from warpwright.core.task import Task
from warpwright.report.verdicts import sentence

if TYPE_CHECKING:
    from warpwright.compose.survey import Surveyed


@dataclass(frozen=True, slots=True, kw_only=True, repr=False)
class Composed:
    """The result for one task: a kernel with its verdict, or the reason why there is none."""

    name: str
    task: Task | None = None
    candidate: Candidate | None = None
    dossier: Dossier | None = None
    """None where there is no kernel, or it was not checked."""
    reason: str | None = None
    fault: OurFault | None = None
    """The bug of ours that is the reason, if it is one; its cause has the traceback."""

    @property
    def verdict(self) -> Verdict | None:
        return self.dossier.verdict if self.dossier else None

    @property
    def source(self) -> str | None:
        """The kernel, unless a rung refuted it. An undecided one is kept: another machine may tell."""
        return self.candidate.source if self.candidate and self.verdict is not Verdict.REFUTED else None

    @property
    def sentence(self) -> str:
        return self.reason or (sentence(self.dossier) if self.dossier else "Not checked.")

    def save(self, folder: str | Path) -> Path | None:
        """Write the kernel as NAME.cu, NAME.backward.cu ...; None where there is none to keep."""
        if self.task is None or self.candidate is None or self.source is None:
            return None
        direction = "" if self.task.direction == "forward" else f".{self.task.direction}"
        path = Path(folder) / languages.file_name(f"{self.task.name}{direction}", self.candidate.language)
        path.write_text(self.source, encoding="utf-8")
        return path

    def __repr__(self) -> str:
        lines = len(self.source.splitlines()) if self.source else 0
        return f"{self.name}: {self.sentence}" + (f" {lines} lines of source." if lines else "")

    def _repr_html_(self) -> str:
        from warpwright.app.notebook import paragraph, preformatted

        return paragraph(repr(self)) + (preformatted(self.source) if self.source else "")


def compose(
    task: TaskLike,
    *,
    inputs: Inputs = (),
    gpu: str = "h200",
    check: bool = True,
    on_progress: OnProgress | None = None,
) -> Composed:
    """Write a kernel for one task and one GPU by rule, and check it."""
    from warpwright.compose.survey import surveyed

    reporter = Reporter(on_progress)
    reporter.doing("composing")
    subject = subject_of(task, inputs)
    return _checked(surveyed(subject.task, gpu=gpu), gpu, check, reporter)


def compose_all(
    places: Sequence[str],
    *,
    inputs: Inputs = (),
    gpu: str = "h200",
    check: bool = True,
    on_progress: OnProgress | None = None,
) -> Iterator[Composed]:
    """Write a kernel for each task that the places name, one after the other.

    Among many, a task that cannot be loaded is a result with its reason; alone it is a mistake.
    """
    from warpwright.compose.survey import survey, surveyed
    from warpwright.tasks import load
    from warpwright.tasks.given.examples import descriptions

    if inputs and len(places) > 1:
        raise UsageError("--input describes one function; give exactly one TASK with it")
    reporter = Reporter(on_progress)
    reporter.doing("composing")
    described = descriptions(inputs)
    given = load(places[0], inputs=described) if inputs else ()
    for answer in (surveyed(task, gpu=gpu) for task in given) if inputs else survey(places, gpu=gpu):
        if answer.task is None and [answer.name] == list(places):
            raise UsageError(answer.reason or f"{answer.name} cannot be loaded")
        yield _checked(answer, gpu, check, reporter)
        reporter.doing("composing")


def _checked(answer: Surveyed, gpu: str, check: bool, reporter: Reporter) -> Composed:
    from warpwright.verify.ladder import climb

    if answer.task is None or not answer.sources:
        return Composed(name=answer.name, task=answer.task, reason=answer.reason, fault=answer.fault)
    candidate = Candidate(source=answer.sources[0], flags=Flags(gpu=gpu_named(gpu).name))
    if check:
        reporter.doing(f"checking {answer.name}")
    dossier = climb(answer.task, candidate).dossier if check else None
    return Composed(name=answer.name, task=answer.task, candidate=candidate, dossier=dossier)
