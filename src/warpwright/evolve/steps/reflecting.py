"""Asks a model from time to time what worked, what failed and why."""

from __future__ import annotations

from warpwright.core.records.search import Action, Fate
from warpwright.evolve.turn import Draft, Turn

SETTLED = (Fate.REFUTED, Fate.SLOWER, Fate.IMPROVED)


def reflect(turn: Turn) -> Draft | None:
    """Requests a reflection once enough candidates have been settled since the last one."""
    every = turn.policy.reflect_every
    if every is None or turn.last_action is not Action.EVALUATE or not turn.remaining.within(turn.policy.arms):
        return None
    settled = sum(member.fate in SETTLED for member in turn.members)
    done = sum(decision.action is Action.REFLECT for decision in turn.snapshot.decisions)
    if settled < every * (done + 1):
        return None
    return Draft(
        action=Action.REFLECT, reason=f"{settled} candidates are settled since the start.", generation=turn.generation
    )
