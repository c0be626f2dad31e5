"""Checking one kernel or many without a GPU, each against its own task."""

from __future__ import annotations

import shlex
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import Any

from warpwright import languages
from warpwright.app.given import (
    Inputs,
    KernelLike,
    Subject,
    TaskLike,
    candidate_of,
    cases_of_types,
    headers_first,
    macro_options,
    path_of,
    subject_of,
)
from warpwright.app.progress import OnProgress, Reporter
from warpwright.core.candidate import Candidate
from warpwright.core.dtypes import dtype_named
from warpwright.core.errors import UsageError
from warpwright.core.records.evidence import Counterexample, Dossier, Evidence, Fault, Verdict
from warpwright.core.records.rungs import EMULATE
from warpwright.core.task import Task
from warpwright.report.verdicts import details, sentence, warnings
from warpwright.verify.evaluation import Label, read_labels


@dataclass(frozen=True, slots=True, kw_only=True)
class Piece:
    """A kernel and its task."""

    kernel: KernelLike
    subject: Subject
    label: Label | None = None

    @property
    def name(self) -> str:
        path = path_of(self.kernel)
        return "kernel" if path is None else path.name

    @property
    def dtypes(self) -> tuple[str, ...]:
        """The dtypes that the kernel supports, if its label restricts them."""
        return self.label.dtypes if self.label else ()


@dataclass(frozen=True, slots=True, kw_only=True)
class Demands:
    """How much a check asks of a kernel and of its task."""

    envelope: bool = False
    """Whether sizes chosen by the loader count."""
    trust_task: bool = False
    """Whether the task is used although it may not tell right from wrong."""
    thorough: bool = False
    """Whether blocks of sizes run that take minutes."""
    prove: bool = False
    """Whether a kernel must not compute another formula than the reference."""
    seconds: float | None = None
    """After how long a check ends undecided; None waits for a verdict."""

    @property
    def options(self) -> str:
        limit = "" if self.seconds is None else f" --timeout {self.seconds:g}"
        asked = " --envelope" * self.envelope + " --trust-task" * self.trust_task
        return asked + " --thorough" * self.thorough + " --prove" * self.prove + limit


@dataclass(frozen=True, slots=True, kw_only=True, repr=False)
class Checked:
    """One kernel, and what the rungs of this machine found out about it."""

    candidate: Candidate
    subject: Subject
    dossier: Dossier
    path: Path | None = None
    """The kernel's file, where it has one."""
    dtypes: tuple[str, ...] = ()
    """The only ones that it was checked on; all of the task's if empty."""
    demands: Demands = Demands()

    @property
    def verdict(self) -> Verdict:
        return self.dossier.verdict

    @property
    def holds(self) -> bool:
        """Whether every rung that this machine can climb held."""
        return self.verdict is Verdict.HOLDS

    @property
    def faults(self) -> tuple[Fault, ...]:
        """Failures of ours on the way; with any of them the verdict says nothing about the kernel."""
        return self.dossier.faults

    @property
    def counterexample(self) -> Counterexample | None:
        found = self.dossier.refutation
        return found.counterexample if found else None

    @property
    def name(self) -> str:
        return self.path.name if self.path else languages.file_name(self.candidate.id[:12], self.candidate.language)

    @property
    def sentence(self) -> str:
        return sentence(self.dossier)

    @property
    def details(self) -> list[str]:
        """Describes where a refuted kernel is wrong, with a line for each place."""
        return details(self.dossier, self.candidate.source)

    @property
    def warnings(self) -> list[str]:
        return warnings(self.dossier)

    def document(self) -> dict[str, Any]:
        """For programs: the verdict first, then the words, then everything."""
        return {
            "file": str(self.path or self.name),
            "verdict": self.verdict,
            "sentence": self.sentence,
            "where": self.details,
            "warnings": self.warnings,
            "dossier": self.dossier,
        }

    def reproduce(self, folder: str | Path) -> str:
        """Writes the checked kernels to a folder; returns the command that checks them again."""
        place = Path(folder)
        place.mkdir(parents=True, exist_ok=True)
        (place / self.name).write_bytes(self.candidate.source.encode("utf-8", errors="surrogateescape"))
        named = self.subject.write(place)
        flags = self.candidate.flags
        options = f" --gpu {flags.gpu}" + " --fast-math" * flags.fast_math + macro_options(flags.extra)
        options += "".join(f" --dtype {name}" for name in self.dtypes) + self.demands.options
        return f"warpwright check {shlex.quote(self.name)} {named}{options}"

    def __repr__(self) -> str:
        rungs = (f"{item.rung} {'not here' if item.skipped else item.verdict}" for item in self.dossier.evidence)
        lines = [f"{self.name} for {self.dossier.task}: {self.sentence}", *self.details, ", ".join(rungs)]
        return "\n  ".join(line for line in lines if line)

    def _repr_html_(self) -> str:
        from warpwright.app.kernels.documents import section

        return section(self)


def check(
    kernel: KernelLike,
    task: TaskLike,
    *,
    inputs: Inputs = (),
    dtypes: Sequence[str] = (),
    gpu: str = "h200",
    fast_math: bool = False,
    demands: Demands | None = None,
    on_progress: OnProgress | None = None,
) -> Checked:
    """Check a kernel without a GPU: does it compile, is its host code a pure launch plan, is it right on the CPU?

    A wrong kernel is a result (`verdict` REFUTED with a counterexample), never an exception.
    """
    piece = Piece(kernel=kernel, subject=subject_of(task, inputs))
    return check_pieces([piece], dtypes=dtypes, gpu=gpu, fast_math=fast_math, demands=demands, on_progress=on_progress)[
        0
    ]


def check_all(
    kernels: Sequence[KernelLike],
    task: TaskLike,
    *,
    inputs: Inputs = (),
    dtypes: Sequence[str] = (),
    gpu: str = "h200",
    fast_math: bool = False,
    jobs: int | None = None,
    on_progress: OnProgress | None = None,
) -> list[Checked]:
    """Check many kernels for one task in `jobs` processes, one for each core if that is None; in the order given."""
    subject = subject_of(task, inputs)
    work = [Piece(kernel=kernel, subject=subject) for kernel in kernels]
    return check_pieces(work, dtypes=dtypes, gpu=gpu, fast_math=fast_math, jobs=jobs, on_progress=on_progress)


def pieces(
    place: Path, task: TaskLike, inputs: Inputs = (), compiled: Callable[[Path], KernelLike] = Path
) -> list[Piece]:
    """One file, or every kernel of a folder, for the same task; `compiled` says how a file is compiled."""
    files = languages.files_in(place) if place.is_dir() else [place]
    if not files:
        raise UsageError(f"{place}: there is no {' or '.join(languages.file_endings())} file in it")
    subject = subject_of(task, inputs)
    return [Piece(kernel=compiled(path), subject=subject) for path in files]


def labelled(place: Path, labels: Path) -> list[Piece]:
    """The kernels that a labels.csv names and that lie in a folder, each for its own task."""
    inside = place.resolve()
    rows = [row for row in read_labels(labels) if row.path.resolve().is_relative_to(inside)]
    if not rows:
        raise UsageError(f"{labels} names no file in {place}")
    tasks = {name: subject_of(_beside(labels, name)) for name in dict.fromkeys(row.task for row in rows)}
    return [Piece(kernel=row.path, subject=tasks[row.task], label=row) for row in rows]


def _beside(labels: Path, name: str) -> str:
    """A task may be a file beside the labels."""
    beside = labels.parent / name
    return str(beside) if beside.is_file() else name


def check_pieces(
    work: Sequence[Piece],
    *,
    dtypes: Sequence[str] = (),
    gpu: str = "h200",
    fast_math: bool = False,
    demands: Demands | None = None,
    jobs: int | None = None,
    on_progress: OnProgress | None = None,
) -> list[Checked]:
    """Check every kernel on all cores, in the order given."""
    from warpwright.dispatch.pool import parallel

    wanted = tuple(dtype_named(name).name for name in dtypes)
    check_one = partial(_check_in_time, dtypes=wanted, gpu=gpu, fast_math=fast_math, demands=demands or Demands())
    reporter = Reporter(on_progress)
    if len(work) == 1:
        reporter.doing(headers_first(f"checking {work[0].name}"))
        return [check_one(work[0])]
    return parallel(check_one, work, jobs=jobs, progress=reporter, label=lambda piece: piece.name)


def _check_in_time(piece: Piece, dtypes: tuple[str, ...], gpu: str, fast_math: bool, demands: Demands) -> Checked:
    from warpwright.dispatch.pool import within

    check_one = partial(_check, dtypes=dtypes, gpu=gpu, fast_math=fast_math, demands=demands)
    if demands.seconds is None:
        return check_one(piece)
    return within(check_one, piece, demands.seconds) or _out_of_time(piece, gpu, fast_math, demands)


def _out_of_time(piece: Piece, gpu: str, fast_math: bool, demands: Demands) -> Checked:
    candidate = candidate_of(piece.kernel, gpu, fast_math)
    reason = f"no verdict within {demands.seconds:g} s"
    evidence = Evidence(candidate=candidate.id, rung=EMULATE, verdict=Verdict.UNDECIDED, reason=reason)
    dossier = Dossier(candidate=candidate.id, task=piece.subject.task.key, evidence=(evidence,))
    return Checked(
        candidate=candidate, subject=piece.subject, dossier=dossier, path=path_of(piece.kernel), demands=demands
    )


def _check(piece: Piece, dtypes: tuple[str, ...], gpu: str, fast_math: bool, demands: Demands) -> Checked:
    candidate = candidate_of(piece.kernel, gpu, fast_math)
    wanted = dtypes or piece.dtypes
    return Checked(
        candidate=candidate,
        subject=piece.subject,
        dossier=_climbed(piece.subject.task, candidate, wanted, demands),
        path=path_of(piece.kernel),
        dtypes=wanted,
        demands=demands,
    )


def _climbed(task: Task, candidate: Candidate, dtypes: tuple[str, ...], demands: Demands) -> Dossier:
    from warpwright.verify.ladder import climb, rungs

    task = task.in_general() if demands.envelope else task
    ladder = rungs(trust_task=demands.trust_task, thorough=demands.thorough, prove=demands.prove)
    return climb(task, candidate, cases_of_types(task, dtypes) if dtypes else None, ladder).dossier
