"""The opening: the first candidate that is right, translated, derived from a forward kernel, or composed."""

from __future__ import annotations

from warpwright.core.records.search import Action, Operator
from warpwright.evolve.steps.composing import compose
from warpwright.evolve.steps.repair import attempts
from warpwright.evolve.turn import Draft, Turn


def opening(turn: Turn) -> Draft | None:
    """None as soon as somebody has a score."""
    if turn.people.scored:
        return None
    if not turn.policy.arms:
        return _composed(turn)
    if (first := _first_parent(turn)) is not None:
        return first
    done = attempts(turn)
    if done >= turn.policy.attempts:
        return _stop(turn, f"None of {done} attempts gave a right candidate that could be scored.")
    operator, parents = (Operator.DERIVE, (turn.given.forward,)) if turn.given.forward else (Operator.TRANSLATE, ())
    turn.ask(operator, parents, hint=turn.rng.choice(turn.given.hints) if turn.given.hints else None)
    return turn.breed(f"Nothing is right yet after {done} of {turn.policy.attempts} attempts.")


def _first_parent(turn: Turn) -> Draft | None:
    """Models start from a kernel that costs nothing, where the composer can write one."""
    if not turn.policy.composer or not turn.given.space or turn.members:
        return None
    turn.build(Operator.COMPOSE, (), turn.given.genome)
    return turn.breed("The composer writes the first parent.")


def _composed(turn: Turn) -> Draft:
    if not turn.policy.composer or not turn.given.space:
        return _stop(turn, "There is no model to ask, and the composer cannot write this task.")
    if len(turn.members) >= turn.policy.attempts:
        return _stop(turn, f"None of {len(turn.members)} composed kernels could be scored.")
    return compose(turn) or _stop(turn, "No genome of the composer is left to try.")


def _stop(turn: Turn, reason: str) -> Draft:
    return Draft(action=Action.STOP, reason=reason, generation=turn.generation)
