"""The straight line, round and round: decide, propose, verify, evaluate, remember.

A run is its records in the archive. Each turn folds them, finishes what the last decision still owes, and only then
decides anew; so a run that was killed goes on as if it had not been.
"""

from __future__ import annotations

import os
import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Protocol

from warpwright.archive.store import Archive
from warpwright.core.candidate import Candidate
from warpwright.core.errors import UsageError
from warpwright.core.evidence import Dossier, Verdict
from warpwright.core.judged import Judged
from warpwright.core.search import (
    Action,
    Basis,
    Brief,
    Call,
    Decision,
    Lesson,
    Operator,
    Prediction,
    Proposal,
    Run,
    Score,
    Sitting,
    Snapshot,
)
from warpwright.core.task import Task
from warpwright.dispatch.crew import in_order
from warpwright.emulate.cost import profile_sentence
from warpwright.evolve.decide import decide
from warpwright.evolve.fold import fold
from warpwright.evolve.given import Given
from warpwright.evolve.novelty import fingerprint
from warpwright.evolve.policy import Policy
from warpwright.evolve.population import population
from warpwright.evolve.traits import traits
from warpwright.evolve.work import unfinished
from warpwright.library import library_of
from warpwright.propose.halving import Rung
from warpwright.propose.known import Known, Library
from warpwright.propose.proposing import Proposed
from warpwright.propose.specialising import specialised
from warpwright.propose.tuning import PREDICTED, Entrant, tuned
from warpwright.report.scoring import measured, predicted

Outcome = Judged | tuple[Prediction, ...]
"""What a judge said, or, where none is within reach, what a cost model expects."""


class Tools(Protocol):
    """What a run works with. Each may be slow; each may be asked again for what was lost half way."""

    def given(self, library: Library, dossiers: Mapping[str, Dossier]) -> Given: ...

    def propose(self, brief: Brief, library: Library, asked: Sequence[Call]) -> Proposed:
        """`asked` are questions of this brief that were answered before."""

    def climb(self, candidates: Sequence[Candidate]) -> Iterator[tuple[Dossier, Sequence[Call]]]:
        """With the questions that were asked on the way, if any."""

    def evaluate(self, candidates: Sequence[Candidate], dossiers: Mapping[str, Dossier]) -> Iterator[Outcome]: ...

    def reflect(self, snapshot: Snapshot, library: Library) -> tuple[str, Sequence[Call]]:
        """A lesson, empty where nobody answered, and the questions that were asked for it."""


class Watcher(Protocol):
    """Told what goes on, so that a face can show it."""

    def saw(self, snapshot: Snapshot) -> None: ...

    def doing(self, what: str) -> None: ...


@dataclass(slots=True, kw_only=True)
class Line:
    """One sitting of one run."""

    run: Run
    task: Task
    archive: Archive
    policy: Policy
    tools: Tools
    watcher: Watcher
    output: Path
    workers: int = 8
    clock: Callable[[], float] = time.monotonic
    _since: float = field(init=False)

    def drive(self) -> Snapshot:
        """Until a decision to stop. A run that had stopped is given another chance: its budget may have grown."""
        self._since = self.clock()
        with self.archive.claim(self.run.id):
            snapshot = self._settle()
            while True:
                decision = self._decide(snapshot)
                snapshot = self._settle()
                if decision.action is Action.STOP:
                    return snapshot

    def snapshot(self) -> Snapshot:
        return fold(self.run, self.archive.log(self.run.id))

    def _settle(self) -> Snapshot:
        """Finishes what the last decision owes."""
        while True:
            snapshot = self.snapshot()
            self._keep_best(snapshot)
            self.watcher.saw(snapshot)
            work = unfinished(snapshot)
            if not work:
                return snapshot
            if work.ask:
                self._ask(work.ask)
            elif work.verify:
                self._verify(work.verify)
            elif work.evaluate:
                self._evaluate(work.evaluate)
            elif work.reflect:
                self._reflect(work.reflect, snapshot)

    def _decide(self, snapshot: Snapshot) -> Decision:
        decision = decide(snapshot, self.policy, self.tools.given(self._library(), self._dossiers()))
        with self.archive.transaction():
            self._note_time(f"before decision {decision.number}")
            self.archive.append(self.run.id, decision)
        self.watcher.doing(decision.reason)
        return decision

    def _note_time(self, reason: str) -> None:
        now = self.clock()
        self.archive.append(self.run.id, Sitting(seconds=now - self._since, reason=reason))
        self._since = now

    def _library(self) -> Library:
        return library_of(self.archive, self.run.id)

    def _dossiers(self) -> dict[str, Dossier]:
        return {item.candidate: item for item in self.archive.records(self.run.id, Dossier)}

    def _ask(self, briefs: Sequence[Brief]) -> None:
        self.watcher.doing(f"asking for {len(briefs)} proposals")
        library, calls = self._library(), self.archive.records(self.run.id, Call)

        def ask(brief: Brief) -> Proposed:
            proposed = self.tools.propose(brief, library, [call for call in calls if call.brief == brief.number])
            # Tools may have kept a call when it was over; the same record is stored once.
            for call in proposed.calls:
                self.archive.append(self.run.id, call)
            return proposed

        for brief, proposed in zip(briefs, in_order(ask, briefs, workers=self.workers), strict=True):
            self._enter(brief, proposed)
            self.watcher.saw(self.snapshot())

    def _enter(self, brief: Brief, proposed: Proposed) -> None:
        candidate = proposed.candidate
        if candidate is None:
            empty = Proposal(brief=brief.number, problem=proposed.problem, faulted=proposed.faulted)
            self.archive.append(self.run.id, empty)
            return
        proposal = _proposal(brief, candidate)
        known = {item.fingerprint: item.candidate for item in self.archive.records(self.run.id, Proposal)}
        proposal = replace(proposal, duplicate_of=known.get(proposal.fingerprint))
        with self.archive.transaction():
            self.archive.keep(candidate)
            self.archive.append(self.run.id, proposal)

    def _verify(self, ids: Sequence[str]) -> None:
        self.watcher.doing(f"verifying {len(ids)} candidates")
        found = self.archive.candidates(ids)
        for dossier, calls in self.tools.climb([found[id_] for id_ in ids]):
            with self.archive.transaction():
                for call in calls:
                    self.archive.append(self.run.id, call)
                self.archive.append(self.run.id, dossier)
            self.watcher.saw(self.snapshot())

    def _evaluate(self, ids: Sequence[str]) -> None:
        self.watcher.doing(f"evaluating {len(ids)} candidates")
        found = self.archive.candidates(ids)
        for outcome in self.tools.evaluate([found[id_] for id_ in ids], self._dossiers()):
            enter_outcome(self.archive, self.run.id, self.task, outcome)
            snapshot = self.snapshot()
            self._keep_best(snapshot)
            self.watcher.saw(snapshot)

    def _reflect(self, decision: Decision, snapshot: Snapshot) -> None:
        self.watcher.doing("asking what the results teach")
        text, calls = self.tools.reflect(snapshot, self._library())
        with self.archive.transaction():
            for call in calls:
                self.archive.append(self.run.id, call)
            self.archive.append(self.run.id, Lesson(decision=decision.number, text=text))

    def _keep_best(self, snapshot: Snapshot) -> None:
        best = population(snapshot).best
        if best is None or best.candidate is None:
            return
        source = self.archive.candidate(best.candidate).source.encode("utf-8", errors="surrogateescape")
        if not self.output.exists() or self.output.read_bytes() != source:
            write_whole(self.output, source)


@dataclass(frozen=True, slots=True, kw_only=True)
class Tuned:
    """What came of tuning one kernel: every setting, what each scored, and the best."""

    tried: tuple[Entrant, ...]
    basis: Basis
    scores: Mapping[str, Score]
    """By candidate; those that are wrong or left early have none."""
    dossiers: Mapping[str, Dossier]
    best: Candidate | None
    merged: Candidate | None = None
    refusal: str | None = None
    """Why the winners by shape could not be merged."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Tuner:
    """Settings of one kernel's open constants, tried and remembered: what the archive knows is not found out again."""

    run: Run
    task: Task
    archive: Archive
    tools: Mapping[Basis, Tools]
    """By what they can say of a kernel: predictions always, measurements where there is a GPU."""
    watcher: Watcher

    def tune(self, tried: Sequence[Entrant], *, merge: bool = False) -> Tuned:
        with self.archive.claim(self.run.id):
            self._enter(Operator.TUNE, tried, (tried[0].candidate,))
            done = tuned(tried, self._look, measured=Basis.MEASURED in self.tools)
            basis = Basis.PREDICTED if done.rungs[-1] is PREDICTED else Basis.MEASURED
            by_id = {entrant.candidate.id: entrant.candidate for entrant in tried}
            finalists = [by_id[name] for name in self.scores(basis) if name in by_id]
            merged, refusal = self._merged(finalists, basis) if merge and finalists else (None, None)
        best = by_id[done.winner] if done.winner else None
        scores = self.scores(basis)
        if best and merged and merged.id in scores and scores[merged.id].value > scores[best.id].value:
            best = merged
        return Tuned(
            tried=tuple(tried), basis=basis, scores=scores, dossiers=self.dossiers(), best=best, merged=merged,
            refusal=refusal,
        )  # fmt: skip

    def _merged(self, kernels: Sequence[Candidate], basis: Basis) -> tuple[Candidate | None, str | None]:
        """One kernel that picks among these by shape, verified and scored as they were; or why there is none."""
        scores = self.scores(basis)
        known = [Known(candidate=kernel, score=scores[kernel.id]) for kernel in kernels]
        try:
            merged = replace(kernels[0], source=specialised(self.task, known))
        except UsageError as error:
            return None, str(error)
        self._enter(Operator.SPECIALISE, [Entrant(candidate=merged, settings={})], kernels)
        self._find_out(basis, [merged])
        return merged, None

    def scores(self, basis: Basis) -> dict[str, Score]:
        found = self.archive.records(self.run.id, Score)
        return {score.candidate: score for score in found if score.basis is basis}

    def dossiers(self) -> dict[str, Dossier]:
        return {item.candidate: item for item in self.archive.records(self.run.id, Dossier)}

    def _look(self, rung: Rung, candidates: Sequence[Candidate]) -> Mapping[str, float | None]:
        basis = Basis.PREDICTED if rung is PREDICTED else Basis.MEASURED
        self._find_out(basis, candidates)
        scores = self.scores(basis)
        return {item.id: scores[item.id].value if item.id in scores else None for item in candidates}

    def _find_out(self, basis: Basis, candidates: Sequence[Candidate]) -> None:
        self._verify([item for item in candidates if item.id not in self.dossiers()], basis)
        dossiers, scored = self.dossiers(), self.scores(basis)
        open_ = [item for item in candidates if item.id not in scored and self._may_go_on(dossiers.get(item.id))]
        if open_:
            self.watcher.doing(f"{len(open_)} settings are {'timed' if basis is Basis.MEASURED else 'predicted'}")
        for outcome in self.tools[basis].evaluate(open_, dossiers) if open_ else ():
            enter_outcome(self.archive, self.run.id, self.task, outcome)

    def _may_go_on(self, dossier: Dossier | None) -> bool:
        judged = [item for record in self.archive.records(self.run.id, Judged) for item in record.evidence]
        refuted = {item.candidate for item in judged if item.verdict is Verdict.REFUTED}
        return dossier is not None and dossier.verdict is not Verdict.REFUTED and dossier.candidate not in refuted

    def _verify(self, candidates: Sequence[Candidate], basis: Basis) -> None:
        """A fault of ours is not kept, so that the next time it is tried again."""
        if candidates:
            self.watcher.doing(f"{len(candidates)} settings are verified")
        for dossier, _ in self.tools[basis].climb(candidates) if candidates else ():
            if not dossier.faults:
                self.archive.append(self.run.id, dossier)

    def _enter(self, operator: Operator, entrants: Sequence[Entrant], parents: Sequence[Candidate]) -> None:
        """Those that are new to this run, as one decision."""
        known = {item.candidate for item in self.archive.records(self.run.id, Proposal)}
        new = [entrant for entrant in entrants if entrant.candidate.id not in known]
        if not new:
            return
        decision = self._decision(operator, new, parents)
        with self.archive.transaction():
            for candidate in (*parents, *(entrant.candidate for entrant in new)):
                self.archive.keep(candidate)
            self.archive.append(self.run.id, decision)
            for brief, entrant in zip(decision.briefs, new, strict=True):
                self.archive.append(self.run.id, _proposal(brief, entrant.candidate))

    def _decision(self, operator: Operator, new: Sequence[Entrant], parents: Sequence[Candidate]) -> Decision:
        decisions = self.archive.records(self.run.id, Decision)
        first = sum(len(decision.briefs) for decision in decisions)
        return Decision(
            number=len(decisions),
            generation=0,
            action=Action.BREED,
            reason=f"{len(new)} settings of one kernel." if operator is Operator.TUNE else "Winners by shape, merged.",
            seed=self.run.seed,
            briefs=tuple(_brief(number, operator, item, parents) for number, item in enumerate(new, start=first)),
        )


def _brief(number: int, operator: Operator, entrant: Entrant, parents: Sequence[Candidate]) -> Brief:
    """Whoever is tuned is nobody's child."""
    if entrant.candidate in parents:
        return Brief(number=number, operator=Operator.TRANSLATE, genome=entrant.settings)
    ids = tuple(parent.id for parent in parents)
    return Brief(number=number, operator=operator, parents=ids, genome=entrant.settings)


def enter_outcome(archive: Archive, run: str, task: Task, outcome: Outcome) -> None:
    """The record and its score together, so that no kill leaves one without the other."""
    records: tuple[Judged | Prediction, ...]
    if isinstance(outcome, Judged):
        records, score = (outcome,), measured(task, outcome)
    else:
        slowest = max(outcome, key=lambda prediction: prediction.time_us)
        records, score = outcome, predicted(task, outcome, profile_sentence(slowest))
    with archive.transaction():
        for record in records:
            archive.append(run, record)
        if score is not None:
            archive.append(run, score)


def _proposal(brief: Brief, candidate: Candidate) -> Proposal:
    return Proposal(
        brief=brief.number,
        candidate=candidate.id,
        fingerprint=fingerprint(candidate.source),
        traits=traits(candidate.source, None),
        genome=brief.genome,
    )


def write_whole(path: Path, content: bytes) -> None:
    """There whole or not at all."""
    draft = path.with_name(f".{path.name}.{os.getpid()}")
    try:
        draft.write_bytes(content)
        draft.replace(path)
    except OSError as error:
        raise UsageError(f"{path} cannot be written: {error.strerror}") from None
