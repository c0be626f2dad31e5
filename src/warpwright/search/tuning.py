"""Tuning as a policy of the straight line: settings of a kernel's open constants, halved by predictions, then by times.

A decision follows from the snapshot alone, so what the archive knows is never found out again.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace

from warpwright.core.records.search import Action, Basis, Brief, Decision, Fate, Member, Operator, Score, Snapshot
from warpwright.evolve.inputs import SearchInputs
from warpwright.evolve.seeds import seed_of
from warpwright.propose.tuning.halving import Halving, Rung
from warpwright.propose.tuning.ranking import MEASURED, PREDICTED, Entrant

BASES = {PREDICTED: Basis.PREDICTED, MEASURED: Basis.MEASURED}


@dataclass(frozen=True, slots=True, kw_only=True)
class Tuned:
    """The result of tuning one kernel: all settings, their scores, and the best."""

    tried: tuple[Entrant, ...]
    basis: Basis
    fates: Mapping[str, Fate]
    """The verdicts by candidate."""
    scores: Mapping[str, Score]
    """Scores by candidate; wrong candidates and those eliminated early have none."""
    best: str | None
    """The id of the best candidate."""
    merged: str | None = None
    """The id of the kernel into which the best kernels of the shapes were merged."""
    refusal: str | None = None
    """The reason why the best kernels of the shapes could not be merged."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Tuning:
    """The settings to try; the first is the given kernel."""

    tried: tuple[Entrant, ...]
    merge: bool = False
    measured: bool = False
    """Whether settings can be timed; otherwise predictions decide."""

    def decide(self, snapshot: Snapshot, given: SearchInputs) -> Decision:
        """Tries new settings, evaluates the entrants of the current rung, merges the best by shape, then stops."""
        return self._try_new(snapshot) or self._evaluate(snapshot) or self._merge(snapshot) or _stop(snapshot)

    def result(self, snapshot: Snapshot) -> Tuned:
        """Returns the result after the tuning has stopped."""
        basis, winner = self._basis(snapshot), self._halving(snapshot).winner
        scores = _scores(snapshot, basis)
        merging = _merging(snapshot)
        merged = merging.candidate if merging else None
        better = winner and merged in scores and scores[merged or ""].value > scores[winner].value
        return Tuned(
            tried=self.tried,
            basis=basis,
            fates={member.candidate: member.fate for member in snapshot.members if member.candidate},
            scores=scores,
            best=merged if better else winner,
            merged=merged,
            refusal=merging.issue if merging and merged is None else None,
        )

    def _try_new(self, snapshot: Snapshot) -> Decision | None:
        known = {member.candidate for member in snapshot.members}
        parent = self.tried[0].candidate.id
        new = [entrant for entrant in self.tried if entrant.candidate.id not in known]
        first = len(snapshot.members)
        briefs = tuple(
            Brief(number=number, operator=Operator.TUNE, parents=(parent,), genome=entrant.settings)
            for number, entrant in enumerate(new, start=first)
        )
        reason = f"{len(new)} settings of one kernel."
        return _decision(snapshot, Action.BREED, reason, briefs=briefs) if new else None

    def _evaluate(self, snapshot: Snapshot) -> Decision | None:
        """Evaluates the entrants of the halving's current rung, then the merged kernel."""
        if (turn := self._halving(snapshot).turn) is not None:
            return _evaluation(snapshot, BASES[turn.rung], turn.entrants)
        merging, basis = _merging(snapshot), self._basis(snapshot)
        if merging and merging.candidate and _score(merging, basis) is _UNKNOWN:
            return _evaluation(snapshot, basis, (merging.candidate,))
        return None

    def _merge(self, snapshot: Snapshot) -> Decision | None:
        tried = {entrant.candidate.id for entrant in self.tried}
        parents = tuple(id_ for id_ in _scores(snapshot, self._basis(snapshot)) if id_ in tried)
        if not self.merge or not parents or _merging(snapshot):
            return None
        brief = Brief(number=len(snapshot.members), operator=Operator.SPECIALISE, parents=parents)
        return _decision(snapshot, Action.BREED, "Winners by shape, merged.", briefs=(brief,))

    def _halving(self, snapshot: Snapshot) -> Halving:
        """Predictions choose what is measured; if none of the settings can be predicted, all are measured."""
        if not self.measured:
            return self._played(snapshot, (PREDICTED,))
        halving = self._played(snapshot, (PREDICTED, MEASURED))
        over = halving.turn is None and halving.winner is None
        return self._played(snapshot, (MEASURED,)) if over else halving

    def _played(self, snapshot: Snapshot, rungs: tuple[Rung, ...]) -> Halving:
        """The halving as far as scores are known."""
        members = {member.candidate: member for member in snapshot.members}
        names = tuple(entrant.candidate.id for entrant in self.tried)
        halving = Halving(entrants=names, rungs=rungs, incumbent=names[0])
        while (turn := halving.turn) is not None:
            found = {name: _score(members[name], BASES[turn.rung]) for name in turn.entrants}
            if not (known := {name: score for name, score in found.items() if not isinstance(score, _Unknown)}):
                break
            halving = halving.fed(known)
        return halving

    def _basis(self, snapshot: Snapshot) -> Basis:
        return BASES[self._halving(snapshot).rungs[-1]]


class _Unknown:
    """The score of a candidate that was not evaluated yet."""


_UNKNOWN = _Unknown()


def _score(member: Member, basis: Basis) -> float | _Unknown | None:
    """The score on a basis; None for a candidate that is wrong or cannot be scored on it."""
    if basis in member.scores and member.fate is not Fate.REFUTED:
        return member.scores[basis].value
    over = (Fate.REFUTED, Fate.FAULTED, Fate.UNREADABLE, Fate.DUPLICATE)
    return None if member.fate in over or basis in member.evaluated else _UNKNOWN


def _scores(snapshot: Snapshot, basis: Basis) -> dict[str, Score]:
    members = (member for member in snapshot.members if member.candidate and basis in member.scores)
    return {member.candidate or "": member.scores[basis] for member in members}


def _merging(snapshot: Snapshot) -> Member | None:
    """The last attempt to merge."""
    attempts = [member for member in snapshot.members if member.brief.operator is Operator.SPECIALISE]
    return attempts[-1] if attempts else None


def _evaluation(snapshot: Snapshot, basis: Basis, candidates: Sequence[str]) -> Decision:
    reason = f"{len(candidates)} settings are {'timed' if basis is Basis.MEASURED else 'predicted'}."
    return replace(_decision(snapshot, Action.EVALUATE, reason), candidates=tuple(candidates), basis=basis)


def _stop(snapshot: Snapshot) -> Decision:
    return _decision(snapshot, Action.STOP, "All settings are compared.")


def _decision(snapshot: Snapshot, action: Action, reason: str, briefs: tuple[Brief, ...] = ()) -> Decision:
    number = len(snapshot.decisions)
    return Decision(
        number=number,
        generation=0,
        action=action,
        reason=reason,
        seed=seed_of(snapshot.run.seed, number),
        briefs=briefs,
    )
