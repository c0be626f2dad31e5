"""Requests repairs of refuted candidates, so that a typo does not cost a good idea. Repairs have their own budget."""

from __future__ import annotations

import math

from warpwright.core.records.search import Action, Fate, Member, Operator
from warpwright.evolve.selection.context import best_ancestor_score
from warpwright.evolve.selection.population import RIGHT
from warpwright.evolve.turn import Draft, Turn


def repair(turn: Turn) -> Draft | None:
    """Requests repairs of the most promising refuted candidates, after proposals were verified or judged."""
    if turn.last_action not in (Action.BREED, Action.EVALUATE):
        return None
    broken = repairable(turn)
    for member in broken[: max(_allowed(turn), 0)]:
        assert member.candidate is not None
        if not turn.ask(Operator.REPAIR, (member.candidate,), temperature=min(turn.policy.temperatures)):
            break
    return turn.breed(f"{len(turn.briefs)} of {len(broken)} refuted candidates are worth a repair.")


def repairable(turn: Turn) -> list[Member]:
    """Candidates refuted by the last decision for a known reason and not repaired too often; best ancestors first."""
    tried = {parent for member in turn.members if _is_repair(member) for parent in member.brief.parents}
    broken = [
        member
        for member in _latest(turn)
        if member.fate is Fate.REFUTED
        and member.issue
        and member.candidate not in tried
        and member.repairs < turn.policy.repair_depth
        and member.brief.operator not in (Operator.TUNE, Operator.COMPOSE)
        and (not turn.people.best or worth_it(member.refuted_by, turn))
    ]
    return sorted(
        broken, key=lambda member: (-best_ancestor_score(member, turn.people), member.repairs, member.brief.number)
    )


def _latest(turn: Turn) -> list[Member]:
    """The members of this generation; after an evaluation only the judged ones."""
    judged = turn.snapshot.decisions[-1].candidates
    return [member for member in turn.newest if not judged or member.candidate in judged]


def worth_it(rung: str | None, turn: Turn) -> bool:
    """Whether a correct candidate costs less by a repair of a candidate that this rung refuted than by a new
    proposal."""
    asked = [member for member in turn.members if member.brief.arm and member.fate not in (Fate.ASKED, Fate.FAULTED)]
    repairs = [member for member in asked if _is_repair(member)]
    proposals = [member for member in asked if not _is_repair(member)]
    similar = [member for member in repairs if _refuted_by(member, turn) == rung]
    usual = _price(proposals) or 1.0
    return (_price(repairs) or usual) / _chance(similar) <= usual / _chance(proposals)


def _refuted_by(member: Member, turn: Turn) -> str | None:
    return next((parent.refuted_by for parent in turn.people.parents_of(member)), None)


def _chance(members: list[Member]) -> float:
    """The estimated chance that such a candidate is correct, with a prior of three correct and three wrong ones."""
    right = sum(member.fate in RIGHT for member in members)
    return (right + 3) / (len(members) + 6)


def _price(members: list[Member]) -> float | None:
    prices = [member.cost_usd for member in members if member.cost_usd is not None]
    return math.fsum(prices) / len(prices) if prices else None


def _allowed(turn: Turn) -> int:
    """The number of repairs still allowed; before the first correct candidate a repair counts as one of its
    attempts."""
    if not turn.people.best:
        return int(not turn.waiting() and attempts(turn) < turn.policy.attempts)
    return turn.policy.repairs - sum(map(_is_repair, turn.newest))


def attempts(turn: Turn) -> int:
    """The number of requests so far for a first correct candidate."""
    return sum(member.brief.arm is not None for member in turn.members)


def _is_repair(member: Member) -> bool:
    return member.brief.operator is Operator.REPAIR
