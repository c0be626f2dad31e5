"""Requests the first correct candidate: translated, derived from a forward kernel, or composed."""

from __future__ import annotations

from warpwright.core.records.search import Action, Operator
from warpwright.evolve.steps.composing import compose
from warpwright.evolve.steps.repair import attempts
from warpwright.evolve.turn import Draft, Turn


def opening(turn: Turn) -> Draft | None:
    """Briefs for a first correct candidate; None once there is one."""
    if turn.people.best:
        return None
    if not turn.policy.arms:
        return _composed(turn)
    if (first := _first_parent(turn)) is not None:
        return first
    done = attempts(turn)
    if done >= turn.policy.attempts:
        return _stop(turn, f"None of {done} attempts gave a correct candidate that could be scored.")
    operator, parents = (Operator.DERIVE, (turn.given.forward,)) if turn.given.forward else (Operator.TRANSLATE, ())
    turn.ask(operator, parents, hint=turn.rng.choice(turn.given.hints) if turn.given.hints else None)
    return turn.breed(f"No candidate is correct yet after {done} of {turn.policy.attempts} attempts.")


def _first_parent(turn: Turn) -> Draft | None:
    """Requests a composed kernel as first parent, which costs nothing; None if the composer cannot write the task."""
    if not turn.policy.composer or not turn.given.space or turn.members:
        return None
    turn.build(Operator.COMPOSE, (), turn.given.genome)
    return turn.breed("The composer writes the first parent.")


def _composed(turn: Turn) -> Draft:
    if not turn.policy.composer or not turn.given.space:
        return _stop(turn, "No model is given, and the composer cannot write this task.")
    if len(turn.members) >= turn.policy.attempts:
        return _stop(turn, f"None of {len(turn.members)} composed kernels could be scored.")
    return compose(turn) or _stop(turn, "The composer has no config left to try.")


def _stop(turn: Turn, reason: str) -> Draft:
    return Draft(action=Action.STOP, reason=reason, generation=turn.generation)
