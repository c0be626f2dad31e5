"""Selects candidates to evaluate, the most promising first, because GPU time is limited."""

from __future__ import annotations

from warpwright.core.records.search import Action, Member
from warpwright.evolve.ledger import evaluations_left
from warpwright.evolve.selection.context import best_ancestor_score
from warpwright.evolve.turn import Draft, Turn


def evaluate(turn: Turn) -> Draft | None:
    """Selects the most promising of all waiting candidates, after new proposals were verified."""
    if turn.last_action in (Action.EVALUATE, Action.REFLECT):
        return None
    return _evaluation(turn, None if turn.given.predicts else turn.policy.evaluate)


def evaluate_rest(turn: Turn) -> Draft | None:
    """Selects every candidate that still waits, before a run stops: none that is correct goes untimed for nothing."""
    return _evaluation(turn, None)


def _evaluation(turn: Turn, most: int | None) -> Draft | None:
    waiting = turn.waiting()
    left = evaluations_left(turn.snapshot, turn.policy)
    allowed = min((limit for limit in (most, left) if limit is not None), default=len(waiting))
    chosen = ranked(turn, waiting)[:allowed]
    if not chosen:
        return None
    return Draft(
        action=Action.EVALUATE,
        reason=f"The {len(chosen)} most promising of {len(waiting)} waiting candidates are evaluated.",
        generation=turn.generation,
        candidates=tuple(member.candidate or "" for member in chosen),
    )


def ranked(turn: Turn, waiting: list[Member]) -> list[Member]:
    """Sorts by `promise`, then by the best score of an ancestor, then newest first."""
    promise = turn.given.promise
    return sorted(
        waiting,
        key=lambda member: (
            -promise.get(member.candidate or "", 0.5),
            -best_ancestor_score(member, turn.people),
            -member.brief.number,
        ),
    )
