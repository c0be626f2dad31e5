"""Makes the next decision of a search. Pure: equal inputs give equal decisions, including their random numbers."""

from __future__ import annotations

import random

from warpwright.core.records.search import Action, Decision, Fate, Snapshot
from warpwright.evolve.inputs import SearchInputs
from warpwright.evolve.ledger import shortage, time_is_up, unpriced
from warpwright.evolve.policy import Policy
from warpwright.evolve.seeds import seed_of
from warpwright.evolve.steps.breeding import breed
from warpwright.evolve.steps.opening import opening
from warpwright.evolve.steps.queue import evaluate, evaluate_rest
from warpwright.evolve.steps.reflecting import reflect
from warpwright.evolve.steps.repair import repair
from warpwright.evolve.steps.tuning import tune
from warpwright.evolve.turn import Draft, Turn

NO_INPUTS = SearchInputs()


def decide(snapshot: Snapshot, policy: Policy, given: SearchInputs = NO_INPUTS) -> Decision:
    """The next decision of a run whose last decision is finished."""
    number = len(snapshot.decisions)
    seed = seed_of(snapshot.run.seed, number)
    draft = _draft(Turn.of(snapshot, policy, given, random.Random(seed)))
    return Decision(
        number=number,
        generation=draft.generation,
        action=draft.action,
        reason=draft.reason,
        seed=seed,
        briefs=draft.briefs,
        candidates=draft.candidates,
    )


def _draft(turn: Turn) -> Draft:
    for step in (stop_when_enough, stop_in_time, repair, evaluate, tune, reflect, stop, opening, breed):
        if (draft := step(turn)) is not None:
            return draft
    return stop_after_the_rest(turn, "Nothing is left to try.")


def stop_when_enough(turn: Turn) -> Draft | None:
    best = turn.people.best
    share = best.score.share_of_limit if best and best.score else None
    if turn.policy.enough is None or share is None or not share >= turn.policy.enough:
        return None
    return _stop(turn, f"The best candidate reaches {share:.0%} of the physical limit.")


def stop_in_time(turn: Turn) -> Draft | None:
    """Stops when the wall time is used up, even if candidates still wait to be evaluated."""
    if not time_is_up(turn.snapshot, turn.policy):
        return None
    return _stop(turn, f"The {turn.policy.budget.wall_seconds:g} s allowed have passed.")


def stop(turn: Turn) -> Draft | None:
    """Stops when the budget or the generations are used up, or when every proposal of the last decision faulted."""
    reason = shortage(turn.snapshot, turn.policy, turn.given) or _all_done(turn) or _all_faulted(turn)
    return stop_after_the_rest(turn, reason) if reason else None


def stop_after_the_rest(turn: Turn, reason: str) -> Draft:
    """Stops once the last waiting candidates are evaluated."""
    return evaluate_rest(turn) or _stop(turn, reason)


def _all_done(turn: Turn) -> str | None:
    if turn.people.best and turn.generation >= turn.policy.generations:
        return f"{_all(turn.policy.generations)} done{unpriced(turn.snapshot)}."
    return None


def _all(generations: int) -> str:
    return "The one generation is" if generations == 1 else f"All {generations} generations are"


def _all_faulted(turn: Turn) -> str | None:
    """States that every proposal of the last decision faulted, as when a server is down. A resumed run tries again."""
    last = turn.snapshot.decisions[-1] if turn.snapshot.decisions else None
    if last is None or last.action is not Action.BREED:
        return None
    asked = {brief.number for brief in last.briefs}
    failed = [member for member in turn.members if member.brief.number in asked]
    if any(member.fate is not Fate.FAULTED for member in failed):
        return None
    why = next((f": {member.issue}" for member in failed if member.issue), "")
    return f"All {len(failed)} proposals of this turn failed, by a fault of ours or a model's{why}; resume to retry."


def _stop(turn: Turn, reason: str) -> Draft:
    return Draft(action=Action.STOP, reason=reason, generation=turn.generation)
