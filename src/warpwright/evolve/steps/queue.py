"""Who is evaluated first: time on a GPU is dearer than thought."""

from __future__ import annotations

from warpwright.core.records.search import Action, Member
from warpwright.evolve.ledger import evaluations_left
from warpwright.evolve.selection.context import hope
from warpwright.evolve.turn import Draft, Turn


def evaluate(turn: Turn) -> Draft | None:
    """After proposals came in: the most promising of all that wait, older ones included."""
    waiting = turn.waiting()
    left = evaluations_left(turn.snapshot, turn.policy, turn.given)
    chosen = ranked(turn, waiting)[: turn.policy.evaluate if left is None else min(left, turn.policy.evaluate)]
    if not chosen or turn.last_action in (Action.EVALUATE, Action.REFLECT):
        return None
    return Draft(
        action=Action.EVALUATE,
        reason=f"{len(chosen)} of {len(waiting)} candidates that wait are the most promising.",
        generation=turn.generation,
        candidates=tuple(member.candidate or "" for member in chosen),
    )


def ranked(turn: Turn, waiting: list[Member]) -> list[Member]:
    """By what others promise of them, then by their ancestors, then the newest first."""
    promise = turn.given.promise
    return sorted(
        waiting,
        key=lambda member: (
            -promise.get(member.candidate or "", 0.5),
            -hope(member, turn.people),
            -member.brief.number,
        ),
    )
