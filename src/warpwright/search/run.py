"""A session of a search run: the steps of the straight line, each of which does what the records still lack."""

from __future__ import annotations

import os
import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Protocol

from warpwright import languages
from warpwright.archive.store import Archive
from warpwright.core.candidate import Candidate
from warpwright.core.errors import UsageError
from warpwright.core.records.evidence import Dossier
from warpwright.core.records.judged import Judged
from warpwright.core.records.search import (
    Action,
    Basis,
    Brief,
    Call,
    Decision,
    Lesson,
    Prediction,
    Proposal,
    Record,
    Run,
    Session,
    Snapshot,
)
from warpwright.core.task import Task
from warpwright.dispatch.evaluating import Outcome
from warpwright.dispatch.ordered_map import ordered_map
from warpwright.emulate.cost.model import profile_sentence
from warpwright.evolve.fold import fold
from warpwright.evolve.inputs import SearchInputs
from warpwright.evolve.work import unfinished
from warpwright.propose.prompting.history import history
from warpwright.propose.prompting.known import Library
from warpwright.propose.proposing import Proposed
from warpwright.report.funnel import best
from warpwright.report.scoring import measured, predicted
from warpwright.search.known_kernels import library_of


class SearchServices(Protocol):
    """The services of a run. Each call may be slow, and is repeated if a kill lost its result."""

    def given(self, library: Library, dossiers: Mapping[str, Dossier]) -> SearchInputs: ...

    def propose(self, brief: Brief, library: Library, asked: Sequence[Call], tried: str) -> Proposed:
        """Proposes a candidate. `asked` holds the model calls already answered for this brief; `tried` tells what
        happened to earlier proposals.
        """

    def climb(self, candidates: Sequence[Candidate]) -> Iterator[tuple[Dossier, Sequence[Call]]]:
        """Climbs the ladder with each candidate; yields its dossier and the model calls made for it."""

    def evaluate(
        self, candidates: Sequence[Candidate], dossiers: Mapping[str, Dossier], basis: Basis | None = None
    ) -> Iterator[Outcome]:
        """Evaluates candidates on a basis; None stands for the most reliable one available."""

    def reflect(self, snapshot: Snapshot, library: Library) -> tuple[str, Sequence[Call]]:
        """Returns a lesson, empty if no model answered, and the model calls made for it."""


class Watcher(Protocol):
    """Receives progress, to be shown by a user interface."""

    def saw(self, snapshot: Snapshot) -> None: ...

    def doing(self, what: str) -> None: ...


Decide = Callable[[Snapshot, SearchInputs], Decision]
"""A policy: the next decision, as a pure function of the run's snapshot."""


@dataclass(slots=True, kw_only=True)
class SearchRun:
    """One session of one run: from start or resumption until the run stops.

    The state of a run is its records in the archive. Each step folds them and does what the last decision still needs,
    so that a run that was killed resumes with the same decisions.
    """

    run: Run
    task: Task
    archive: Archive
    policy: Decide
    services: SearchServices
    watcher: Watcher
    output: Path | None = None
    """The file that holds the best kernel so far."""
    workers: int = 8
    clock: Callable[[], float] = time.monotonic
    keeps_faults: bool = True
    """Whether faults of ours are stored; otherwise the next session tries again."""
    _since: float = field(init=False)
    _faulted: list[Record] = field(init=False, default_factory=list)
    """Records of this session that are not kept."""

    @contextmanager
    def session(self) -> Iterator[None]:
        """Claims the run. A run that had stopped may continue: its budget may have grown."""
        self._since = self.clock()
        with self.archive.claim(self.run.id):
            yield

    def snapshot(self) -> Snapshot:
        """Folds the run's records into a snapshot, and writes the best kernel so far to its file."""
        snapshot = fold(self.run, (*self.archive.log(self.run.id), *self._faulted))
        self._keep_best(snapshot)
        self.watcher.saw(snapshot)
        return snapshot

    def propose(self) -> None:
        """Answers open briefs: by the composer, by rule, or by asking models."""
        if briefs := unfinished(self.snapshot()).ask:
            self._ask(briefs)

    def verify(self) -> None:
        """Climbs the ladder with new candidates."""
        if candidates := unfinished(self.snapshot()).verify:
            self._verify(candidates)

    def evaluate(self) -> None:
        """Measures, or without a GPU predicts, the candidates that the last decision names."""
        snapshot = self.snapshot()
        if candidates := unfinished(snapshot).evaluate:
            self._evaluate(candidates, snapshot.decisions[-1].basis)

    def reflect(self) -> None:
        """Asks a model for the lesson that the last decision requests."""
        snapshot = self.snapshot()
        if decision := unfinished(snapshot).reflect:
            self._reflect(decision, snapshot)

    def decide(self) -> Action:
        """Makes and records the next decision."""
        decision = self.policy(self.snapshot(), self.services.given(self._library(), self._dossiers()))
        with self.archive.transaction():
            self._note_time(f"before decision {decision.number}")
            self.archive.append(self.run.id, decision)
        self.watcher.doing(decision.reason)
        return decision.action

    def _note_time(self, reason: str) -> None:
        now = self.clock()
        self.archive.append(self.run.id, Session(seconds=now - self._since, reason=reason))
        self._since = now

    def _library(self) -> Library:
        return library_of(self.archive, self.run.id)

    def _dossiers(self) -> dict[str, Dossier]:
        return {item.candidate: item for item in self.archive.records(self.run.id, Dossier)}

    def _ask(self, briefs: Sequence[Brief]) -> None:
        self.watcher.doing(f"asking for {len(briefs)} proposals")
        library, calls, snapshot = self._library(), self.archive.records(self.run.id, Call), self.snapshot()

        def ask(brief: Brief) -> Proposed:
            asked = [call for call in calls if call.brief == brief.number]
            proposed = self.services.propose(brief, library, asked, history(snapshot, brief))
            # The services may have stored a call already; a repeated record is stored once.
            for call in proposed.calls:
                self.archive.append(self.run.id, call)
            return proposed

        for brief, proposed in zip(briefs, ordered_map(ask, briefs, workers=self.workers), strict=True):
            self._record_proposal(brief, proposed)
            self.snapshot()

    def _record_proposal(self, brief: Brief, proposed: Proposed) -> None:
        candidate = proposed.candidate
        if candidate is None:
            empty = Proposal(brief=brief.number, problem=proposed.problem, faulted=proposed.faulted)
            self.archive.append(self.run.id, empty)
            return
        proposal = proposal_of(brief, candidate)
        known = {item.fingerprint: item.candidate for item in self.archive.records(self.run.id, Proposal)}
        proposal = replace(proposal, duplicate_of=known.get(proposal.fingerprint))
        with self.archive.transaction():
            self.archive.keep(candidate)
            self.archive.append(self.run.id, proposal)

    def _verify(self, ids: Sequence[str]) -> None:
        self.watcher.doing(f"verifying {len(ids)} candidate{'s' * (len(ids) > 1)}")
        found = self.archive.candidates(ids)
        for dossier, calls in self.services.climb([found[id_] for id_ in ids]):
            with self.archive.transaction():
                for call in calls:
                    self.archive.append(self.run.id, call)
                self._store(dossier, faulted=bool(dossier.faults))
            self.snapshot()

    def _evaluate(self, ids: Sequence[str], basis: Basis | None) -> None:
        self.watcher.doing(f"evaluating {len(ids)} candidates")
        found = self.archive.candidates(ids)
        for outcome in self.services.evaluate([found[id_] for id_ in ids], self._dossiers(), basis):
            self._record_outcome(outcome)
            self.snapshot()

    def _record_outcome(self, outcome: Outcome) -> None:
        """Stores a result and its score in one transaction, so that a kill cannot separate them."""
        records: tuple[Judged | Prediction, ...]
        if isinstance(outcome, Judged):
            records, score = (outcome,), measured(self.task, outcome)
        else:
            slowest = max(outcome, key=lambda prediction: prediction.time_us)
            records, score = outcome, predicted(self.task, outcome, profile_sentence(slowest))
        with self.archive.transaction():
            for record in records:
                faulted = isinstance(record, Judged) and bool(record.faults) and not record.evidence
                self._store(record, faulted=faulted)
            if score is not None:
                self.archive.append(self.run.id, score)

    def _store(self, record: Record, *, faulted: bool) -> None:
        if faulted and not self.keeps_faults:
            self._faulted.append(record)
        else:
            self.archive.append(self.run.id, record)

    def _reflect(self, decision: Decision, snapshot: Snapshot) -> None:
        self.watcher.doing("asking what the results teach")
        text, calls = self.services.reflect(snapshot, self._library())
        with self.archive.transaction():
            for call in calls:
                self.archive.append(self.run.id, call)
            self.archive.append(self.run.id, Lesson(decision=decision.number, text=text))

    def _keep_best(self, snapshot: Snapshot) -> None:
        winner = best(snapshot)
        if self.output is None or winner is None or winner.candidate is None:
            return
        source = self.archive.candidate(winner.candidate).source.encode("utf-8", errors="surrogateescape")
        if not self.output.exists() or self.output.read_bytes() != source:
            write_atomically(self.output, source)


def proposal_of(brief: Brief, candidate: Candidate) -> Proposal:
    language = languages.of(candidate)
    return Proposal(
        brief=brief.number,
        candidate=candidate.id,
        fingerprint=language.fingerprint(candidate.source),
        traits=language.traits(candidate.source),
        genome=brief.genome,
    )


def write_atomically(path: Path, content: bytes) -> None:
    """Writes a file atomically."""
    draft = path.with_name(f".{path.name}.{os.getpid()}")
    try:
        draft.write_bytes(content)
        draft.replace(path)
    except OSError as error:
        raise UsageError(f"{path} cannot be written: {error.strerror}") from None
