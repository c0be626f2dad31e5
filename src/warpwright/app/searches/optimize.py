"""A search begun, driven to its end, and resumed."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, replace
from pathlib import Path
from typing import TYPE_CHECKING, Any, Unpack

from warpwright.app.given import KernelLike, TaskLike, candidate_of, path_of
from warpwright.app.progress import OnProgress, Reporter
from warpwright.app.searches.settings import Asking, extended, resume_command, settings_for
from warpwright.core.candidate import Candidate
from warpwright.core.codec import encode
from warpwright.core.errors import UsageError
from warpwright.core.records.search import Member, Run, Snapshot
from warpwright.evolve.policy import Policy
from warpwright.report.funnel import best, funnel
from warpwright.report.scores import spent_words, standing_words
from warpwright.search.settings import Settings

if TYPE_CHECKING:
    from warpwright.archive.store import Archive


@dataclass(frozen=True, slots=True, kw_only=True, repr=False)
class Searched:
    """The result of a search."""

    snapshot: Snapshot
    candidate: Candidate | None
    """The best kernel; None if none was correct."""
    output: Path | None
    """The file that holds it."""
    resume: str
    """The command line that goes on with the run."""

    @property
    def run(self) -> str:
        """The id of the run."""
        return self.snapshot.run.id

    @property
    def best(self) -> Member | None:
        return best(self.snapshot)

    @property
    def source(self) -> str | None:
        return self.candidate.source if self.candidate else None

    @property
    def sentence(self) -> str:
        winner = self.best
        return f"Best: {standing_words(winner)}." if winner else "No correct kernel was found."

    @property
    def reason(self) -> str:
        """Why the search stopped."""
        return self.snapshot.decisions[-1].reason

    def document(self) -> dict[str, Any]:
        """Returns the best kernel, the fates of the proposals and the expenses as plain data."""
        return {
            "run": self.run,
            "task": self.snapshot.run.task,
            "best": self.best,
            "output": str(self.output) if self.output and self.best else None,
            "funnel": funnel(self.snapshot),
            "spent": self.snapshot.spent,
            "stopped": self.reason,
            "resume": self.resume,
        }

    def __repr__(self) -> str:
        counted = funnel(self.snapshot)
        fates = ", ".join(f"{count} {fate}" for fate, count in counted.by_fate.items())
        proposals = f"{counted.proposed} proposals: {fates or 'none'}."
        lines = (f"Run {self.run} for {self.snapshot.run.task}: {self.sentence}", proposals, self.reason)
        return "\n  ".join([*lines, f"Spent: {spent_words(self.snapshot.spent)}."])

    def _repr_html_(self) -> str:
        from warpwright.app.notebook import preformatted

        return preformatted(self) + (preformatted(self.source) if self.source else "")


@dataclass(frozen=True, slots=True, kw_only=True)
class Search:
    """A run that can be driven: it is on record, and nothing was spent yet."""

    archive: Archive
    run: Run
    settings: Settings
    resume: str

    def drive(self, on_progress: OnProgress | None = None) -> Searched:
        """Search until the policy stops; raises BundleSent where the GPU is elsewhere and its results are awaited."""
        from warpwright.search.line import straight_line
        from warpwright.search.wiring import search_run

        snapshot = straight_line(search_run(self.archive, self.run, Reporter(on_progress)))
        winner = best(snapshot)
        found = self.archive.candidate(winner.candidate) if winner and winner.candidate else None
        output = Path(self.settings.output) if self.settings.output else None
        return Searched(snapshot=snapshot, candidate=found, output=output, resume=self.resume)


@contextmanager
def begun(
    settings: Settings, archive: str | Path | None = None, *, start: Candidate | None = None, seed: int | None = None
) -> Iterator[Search]:
    """Put a new run on record."""
    from warpwright.archive.opening import open_archive
    from warpwright.search.wiring import begin

    with open_archive(archive) as opened:
        run = begin(opened, settings, seed, start)
        yield Search(archive=opened, run=run, settings=settings, resume=resume_command(run, archive))


@contextmanager
def resumed(
    name: str,
    archive: str | Path | None = None,
    *,
    budget: float | None = None,
    minutes: float | None = None,
    generations: int | None = None,
    stream: bool | None = None,
    per_minute: int | None = None,
    timeout: float | None = None,
) -> Iterator[Search]:
    """Take up a run exactly where it was, with other limits or ways of asking where they are given."""
    from warpwright.archive.opening import open_archive
    from warpwright.search.wiring import settings_of

    with open_archive(archive, to_read=True) as opened:
        run = opened.run(name)
        settings = extended(
            settings_of(run),
            budget=budget,
            minutes=minutes,
            generations=generations,
            stream=stream,
            per_minute=per_minute,
            timeout=timeout,
        )
        run = replace(run, settings=encode(settings))
        yield Search(archive=opened, run=run, settings=settings, resume=resume_command(run, archive))


def record(
    task: TaskLike,
    *,
    generations: int = 10,
    seed: int | None = None,
    archive: str | Path | None = None,
    on_progress: OnProgress | None = None,
    **asking: Unpack[Asking],
) -> Run:
    """Put a search on record without driving it; `resume` drives it, in this process or another."""
    Reporter(on_progress).doing("loading the task")
    with begun(settings_for(task, Policy(generations=generations), asking), archive, seed=seed) as search:
        return search.run


def optimize(
    task: TaskLike,
    *,
    generations: int = 10,
    proposals: int = 8,
    evaluate: int = 4,
    composer: bool = True,
    start: KernelLike | None = None,
    forward: str | Path | None = None,
    opinions: str | None = None,
    seed: int | None = None,
    archive: str | Path | None = None,
    on_progress: OnProgress | None = None,
    **asking: Unpack[Asking],
) -> Searched:
    """Search for a fast kernel, with language models or, if none is given, with the composer alone.

    `start` is a kernel to begin with, `forward` the file of a right forward kernel for a task of the backward pass,
    `opinions` a model whose opinions order the queue.
    """
    policy = Policy(generations=generations, proposals=proposals, evaluate=evaluate, composer=composer)
    settings = settings_for(task, policy, asking)
    settings = replace(settings, forward=str(forward) if forward else None, opinions=opinions)
    return _searched(settings, start, seed, archive, on_progress)


def translate(
    task: TaskLike,
    *,
    seed: int | None = None,
    archive: str | Path | None = None,
    on_progress: OnProgress | None = None,
    **asking: Unpack[Asking],
) -> Searched:
    """Find the first right kernel for a function, with as many repairs as it takes, ten attempts at most."""
    return _searched(settings_for(task, TRANSLATION, asking), None, seed, archive, on_progress)


def repair(
    kernel: KernelLike,
    task: TaskLike,
    *,
    seed: int | None = None,
    archive: str | Path | None = None,
    on_progress: OnProgress | None = None,
    **asking: Unpack[Asking],
) -> Searched:
    """Repair a wrong kernel, one issue after the other, with models."""
    if not asking.get("models"):
        raise UsageError("a repair needs a model to ask; give --model, for example --model anthropic:NAME")
    return _searched(settings_for(task, REPAIR, asking), kernel, seed, archive, on_progress)


def resume(
    run: str,
    *,
    budget: float | None = None,
    minutes: float | None = None,
    generations: int | None = None,
    archive: str | Path | None = None,
    on_progress: OnProgress | None = None,
) -> Searched:
    """Go on with a run where it stopped or was killed; limits replace its own where they are given."""
    with resumed(run, archive, budget=budget, minutes=minutes, generations=generations) as search:
        return search.drive(on_progress)


TRANSLATION = Policy(generations=0)
REPAIR = Policy(generations=0, repair_depth=Policy().attempts)


def _searched(
    settings: Settings,
    start: KernelLike | None,
    seed: int | None,
    archive: str | Path | None,
    on_progress: OnProgress | None,
) -> Searched:
    flags, first = settings.flags, None
    if start is not None:
        path = path_of(start)
        settings = replace(settings, start=str(path) if path else None)
        first = candidate_of(start, flags.gpu, flags.fast_math)
    with begun(settings, archive, start=first, seed=seed) as search:
        return search.drive(on_progress)
