"""Folds records into a Snapshot. The order in which the answers to one decision arrive makes no difference."""

from __future__ import annotations

import math
from collections import Counter, defaultdict
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field

from warpwright.core.records.evidence import Counterexample, Dossier, Evidence, Verdict
from warpwright.core.records.judged import Judged
from warpwright.core.records.rungs import PREDICT
from warpwright.core.records.search import (
    Basis,
    Brief,
    Call,
    Decision,
    Fate,
    Lesson,
    Member,
    Operator,
    Prediction,
    Proposal,
    Record,
    Run,
    Score,
    Session,
    Snapshot,
    Spent,
)

NO_CHILD = (Operator.REPAIR, Operator.TUNE)
"""Operators whose candidates do not count as children: they finish their parent."""
_CHECKED = (Fate.WAITING, Fate.UNSCORED, Fate.SLOWER, Fate.IMPROVED)


def fold(run: Run, records: Iterable[Record]) -> Snapshot:
    book = _Book()
    for record in records:
        book.enter(record)
    return Snapshot(
        run=run,
        members=book.members(),
        decisions=tuple(book.decisions),
        lessons=tuple(text for _, text in sorted(book.lessons.items())),
        spent=book.spent(),
    )


@dataclass(slots=True)
class _Book:
    """The records, indexed by brief or candidate."""

    decisions: list[Decision] = field(default_factory=list)
    calls: list[Call] = field(default_factory=list)
    proposals: dict[int, Proposal] = field(default_factory=dict)
    owners: dict[str, int] = field(default_factory=dict)
    dossiers: dict[str, Dossier] = field(default_factory=dict)
    judged: dict[str, list[Judged]] = field(default_factory=lambda: defaultdict(list))
    predicted: set[str] = field(default_factory=set)
    scores: dict[str, dict[Basis, Score]] = field(default_factory=lambda: defaultdict(dict))
    lessons: dict[int, str] = field(default_factory=dict)
    sessions: list[float] = field(default_factory=list)

    def enter(self, record: Record) -> None:
        match record:
            case Decision():
                self.decisions.append(record)
            case Call():
                self.calls.append(record)
            case Proposal():
                self._propose(record)
            case Dossier():
                self.dossiers[record.candidate] = record
            case Judged():
                self.judged[record.candidate].append(record)
            case Prediction():
                self.predicted.add(record.candidate)
            case Score():
                self.scores[record.candidate][record.basis] = record
            case Lesson():
                self.lessons[record.decision] = record.text
            case Session():
                self.sessions.append(record.seconds)

    def _propose(self, proposal: Proposal) -> None:
        self.proposals[proposal.brief] = proposal
        if proposal.candidate is not None and proposal.duplicate_of is None:
            owner = self.owners.get(proposal.candidate, proposal.brief)
            self.owners[proposal.candidate] = min(owner, proposal.brief)

    def spent(self) -> Spent:
        known = [call.cost_usd for call in self.calls if call.cost_usd is not None]
        return Spent(
            usd=math.fsum(known),
            unpriced=len(self.calls) - len(known),
            tokens=sum(call.usage.get("input", 0) + call.usage.get("output", 0) for call in self.calls),
            gpu_seconds=math.fsum(self._gpu_seconds()),
            wall_seconds=math.fsum(self.sessions),
        )

    def _gpu_seconds(self) -> Iterable[float]:
        """GPU seconds as the judge reports them, else from scores: a candidate refuted on the GPU has no score."""
        for judged in self.judged.values():
            yield from (seconds for item in judged for seconds in item.seconds.values())
        for candidate, scores in self.scores.items():
            if candidate not in self.judged:
                yield from (score.gpu_seconds for score in scores.values() if score.gpu_seconds is not None)

    def members(self) -> tuple[Member, ...]:
        """The members in the order of their briefs, which also decides which score was the best at its time."""
        costs: dict[int, list[float | None]] = defaultdict(list)
        for call in self.calls:
            if call.brief is not None:
                costs[call.brief].append(call.cost_usd)
        asked = [(brief, decision.generation) for decision in self.decisions for brief in decision.briefs]
        fates = [self._fate(self.proposals.get(brief.number)) for brief, _ in asked]
        ties = _Ties(children=_children(zip((brief for brief, _ in asked), fates, strict=True)))
        return tuple(
            self._member(brief, generation, fate, _total(costs.get(brief.number, ())), ties)
            for (brief, generation), fate in zip(asked, fates, strict=True)
        )

    def _member(self, brief: Brief, generation: int, fate: Fate, cost: float | None, ties: _Ties) -> Member:
        proposal = self.proposals.get(brief.number, _UNANSWERED)
        candidate = proposal.candidate
        refuted = self._refutation(candidate) if fate is Fate.REFUTED else None
        score = self._score(candidate) if fate is Fate.SLOWER else None
        return Member(
            brief=brief,
            generation=generation,
            fate=Fate.IMPROVED if score and ties.is_best(score) else fate,
            candidate=candidate,
            fingerprint=proposal.fingerprint,
            traits=proposal.traits,
            refuted_by=refuted.rung if refuted else None,
            holds=fate in _CHECKED and self._holds(candidate or ""),
            issue=_issue(refuted.counterexample) if refuted and refuted.counterexample else proposal.problem,
            score=score,
            scores=dict(self.scores.get(candidate or "", {})),
            evaluated=tuple(self._bases(candidate or "")),
            children=ties.children[candidate or ""],
            repairs=ties.repairs_of(brief, candidate),
            cost_usd=cost,
        )

    def _fate(self, proposal: Proposal | None) -> Fate:
        if proposal is None:
            return Fate.ASKED
        candidate = proposal.candidate
        if proposal.faulted:
            return Fate.FAULTED
        if proposal.duplicate_of is not None:
            return Fate.DUPLICATE
        if candidate is None:
            return Fate.UNREADABLE
        if self.owners[candidate] != proposal.brief:
            return Fate.DUPLICATE
        return self._fate_of_candidate(candidate)

    def _fate_of_candidate(self, candidate: str) -> Fate:
        dossier, judged = self.dossiers.get(candidate), self.judged.get(candidate, ())
        if self._refutation(candidate):
            return Fate.REFUTED
        if self._score(candidate):
            return Fate.SLOWER  # _member turns this into IMPROVED, once all members are known
        if dossier is None:
            return Fate.ASKED
        if dossier.faults or any(item.faults for item in judged):
            return Fate.FAULTED
        if not judged and candidate not in self.predicted:
            return Fate.WAITING
        return Fate.UNSCORED if self._holds(candidate) else Fate.UNDECIDED

    def _holds(self, candidate: str) -> bool:
        """Whether every check held; a failed prediction is no check."""
        dossier = self.dossiers.get(candidate)
        judged = (item for record in self.judged.get(candidate, ()) for item in record.evidence)
        checks = [item.verdict is Verdict.HOLDS for item in judged if item.rung != PREDICT]
        return dossier is not None and dossier.verdict is Verdict.HOLDS and all(checks)

    def _bases(self, candidate: str) -> Iterable[Basis]:
        """The bases on which the candidate was evaluated, whether that gave a score or not."""
        judged = self.judged.get(candidate, [])
        without_gpu = [any(item.rung == PREDICT for item in record.evidence) for record in judged]
        if candidate in self.predicted or any(without_gpu):
            yield Basis.PREDICTED
        if not all(without_gpu):
            yield Basis.MEASURED

    def _refutation(self, candidate: str | None) -> Evidence | None:
        dossier = self.dossiers.get(candidate or "")
        found = dossier.refutation if dossier else None
        if found is None and candidate in self.judged:
            said = (evidence for item in self.judged[candidate or ""] for evidence in item.evidence)
            found = next((item for item in said if item.verdict is Verdict.REFUTED), None)
        return found

    def _score(self, candidate: str | None) -> Score | None:
        """The measured score, else the predicted one. A value that is not finite is no score."""
        found = self.scores.get(candidate or "")
        if found is None:
            return None
        usable = [found[basis] for basis in Basis if basis in found and math.isfinite(found[basis].value)]
        return usable[0] if usable else None


_UNANSWERED = Proposal(brief=-1)


@dataclass(slots=True, kw_only=True)
class _Ties:
    """Properties of a member that depend on the other members, gathered in the order of the briefs."""

    children: Counter[str]
    repairs: dict[str, int] = field(default_factory=dict)
    best: dict[Basis, float] = field(default_factory=dict)

    def is_best(self, score: Score) -> bool:
        better = score.value > self.best.get(score.basis, -math.inf)
        if better:
            self.best[score.basis] = score.value
        return better

    def repairs_of(self, brief: Brief, candidate: str | None) -> int:
        depth = 0
        if brief.operator is Operator.REPAIR:
            depth = 1 + max((self.repairs.get(parent, 0) for parent in brief.parents), default=0)
        if candidate is not None:
            self.repairs.setdefault(candidate, depth)
        return depth


def _children(asked: Iterable[tuple[Brief, Fate]]) -> Counter[str]:
    return Counter(
        parent
        for brief, fate in asked
        if brief.operator not in NO_CHILD and fate not in (Fate.ASKED, Fate.FAULTED)
        for parent in set(brief.parents)
    )


def _total(costs: Sequence[float | None]) -> float | None:
    known = [cost for cost in costs if cost is not None]
    return math.fsum(known) if known and len(known) == len(costs) else None


def _issue(shown: Counterexample) -> str:
    place = f" (line {shown.line})" if shown.line is not None else ""
    case = f" in case {shown.case}" if shown.case else ""
    return f"{shown.kind}{case}: {shown.message}{place}"
