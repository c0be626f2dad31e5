"""Tunes the open constants of a kernel; every setting is verified and evaluated like any other candidate."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace

from warpwright.archive.store import Archive
from warpwright.core.candidate import Candidate
from warpwright.core.errors import UsageError
from warpwright.core.records.evidence import Dossier, Verdict
from warpwright.core.records.judged import Judged
from warpwright.core.records.search import Action, Basis, Brief, Decision, Operator, Proposal, Run, Score
from warpwright.core.task import Task
from warpwright.propose.prompting.known import Known
from warpwright.propose.specialising import specialised
from warpwright.propose.tuning.halving import Rung
from warpwright.propose.tuning.ranking import PREDICTED, Entrant, tuned
from warpwright.search.run import SearchServices, Watcher, enter_outcome, proposal_of


@dataclass(frozen=True, slots=True, kw_only=True)
class Tuned:
    """The result of tuning one kernel: all settings, their scores, and the best."""

    tried: tuple[Entrant, ...]
    basis: Basis
    scores: Mapping[str, Score]
    """Scores by candidate; wrong candidates and those eliminated early have none."""
    dossiers: Mapping[str, Dossier]
    best: Candidate | None
    merged: Candidate | None = None
    refusal: str | None = None
    """The reason why the best kernels of the shapes could not be merged."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Tuner:
    """Tries settings of one kernel's open constants; results in the archive are not computed again."""

    run: Run
    task: Task
    archive: Archive
    services: Mapping[Basis, SearchServices]
    """Services by the basis of their scores: predictions always, measurements with a GPU."""
    watcher: Watcher

    def tune(self, tried: Sequence[Entrant], *, merge: bool = False) -> Tuned:
        with self.archive.claim(self.run.id):
            self._enter(Operator.TUNE, tried, (tried[0].candidate,))
            done = tuned(tried, self._look, measured=Basis.MEASURED in self.services)
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
        """Merges kernels into one that chooses by shape, then verifies and scores it; or returns the reason why it
        cannot.
        """
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
        for outcome in self.services[basis].evaluate(open_, dossiers) if open_ else ():
            enter_outcome(self.archive, self.run.id, self.task, outcome)

    def _may_go_on(self, dossier: Dossier | None) -> bool:
        judged = [item for record in self.archive.records(self.run.id, Judged) for item in record.evidence]
        refuted = {item.candidate for item in judged if item.verdict is Verdict.REFUTED}
        return dossier is not None and dossier.verdict is not Verdict.REFUTED and dossier.candidate not in refuted

    def _verify(self, candidates: Sequence[Candidate], basis: Basis) -> None:
        """Verifies candidates. A dossier with a fault of ours is not stored, so that the next session tries again."""
        if candidates:
            self.watcher.doing(f"{len(candidates)} settings are verified")
        for dossier, _ in self.services[basis].climb(candidates) if candidates else ():
            if not dossier.faults:
                self.archive.append(self.run.id, dossier)

    def _enter(self, operator: Operator, entrants: Sequence[Entrant], parents: Sequence[Candidate]) -> None:
        """Records the entrants that are new to this run, as one decision."""
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
                self.archive.append(self.run.id, proposal_of(brief, entrant.candidate))

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
    """Builds the brief of one setting. The tuned kernel itself has no parents."""
    if entrant.candidate in parents:
        return Brief(number=number, operator=Operator.TRANSLATE, genome=entrant.settings)
    ids = tuple(parent.id for parent in parents)
    return Brief(number=number, operator=operator, parents=ids, genome=entrant.settings)
