"""Computes the remaining budget: open requests count as spent, and unknown prices are reported as unknown."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from warpwright.core.records.search import Arm, Fate, Snapshot
from warpwright.evolve.inputs import Ceiling, SearchInputs
from warpwright.evolve.policy import Policy


@dataclass(slots=True, kw_only=True)
class RemainingBudget:
    """The budget left for the requests of one decision, counting each at its highest possible cost."""

    usd: float | None
    tokens: int | None
    ceilings: dict[Arm, Ceiling]

    def within(self, arms: Sequence[Arm]) -> tuple[Arm, ...]:
        return tuple(arm for arm in arms if self._fits(self.ceilings[arm]))

    def _fits(self, ceiling: Ceiling) -> bool:
        dollars = self.usd is None or (self.usd > 0 and (ceiling.usd is None or ceiling.usd <= self.usd))
        tokens = self.tokens is None or (self.tokens > 0 and (ceiling.tokens or 0) <= self.tokens)
        return dollars and tokens

    def take(self, arm: Arm) -> None:
        ceiling = self.ceilings[arm]
        self.usd = None if self.usd is None else self.usd - (ceiling.usd or 0.0)
        self.tokens = None if self.tokens is None else self.tokens - (ceiling.tokens or 0)


def remaining_budget(snapshot: Snapshot, policy: Policy, given: SearchInputs) -> RemainingBudget:
    """The remaining budget, after the cost of open briefs."""
    budget, spent = policy.budget, snapshot.spent
    left = RemainingBudget(
        usd=None if budget.usd is None else budget.usd - spent.usd,
        tokens=None if budget.tokens is None else budget.tokens - spent.tokens,
        ceilings={arm: _ceiling(arm, snapshot, given) for arm in policy.arms},
    )
    for member in snapshot.members:
        if member.fate is Fate.ASKED and member.candidate is None and member.brief.arm in left.ceilings:
            left.take(member.brief.arm)
    return left


def _ceiling(arm: Arm, snapshot: Snapshot, given: SearchInputs) -> Ceiling:
    """The highest cost of one answer: as given, otherwise the most expensive answer of this arm so far."""
    told = given.ceilings.get(arm, Ceiling())
    seen = [member.cost_usd for member in snapshot.members if member.brief.arm == arm and member.cost_usd is not None]
    answered = sum(member.brief.arm is not None and member.fate is not Fate.ASKED for member in snapshot.members)
    mean = -(-snapshot.spent.tokens // answered) if answered else None
    return Ceiling(
        usd=told.usd if told.usd is not None else max(seen, default=None),
        tokens=told.tokens if told.tokens is not None else mean,
    )


def evaluations_left(snapshot: Snapshot, policy: Policy) -> int | None:
    """The number of evaluations that fit into the remaining GPU seconds, each at the longest so far; None is no
    limit."""
    if policy.budget.gpu_seconds is None:
        return None
    left = policy.budget.gpu_seconds - snapshot.spent.gpu_seconds
    seen = [member.score.gpu_seconds or 0.0 for member in snapshot.members if member.score]
    longest = max(seen, default=0.0)
    if left <= 0:
        return 0
    return int(left / longest) if longest > 0 else 1


def time_is_up(snapshot: Snapshot, policy: Policy) -> bool:
    """Whether the recorded sessions have used up the allowed wall time."""
    allowed = policy.budget.wall_seconds
    return allowed is not None and snapshot.spent.wall_seconds >= allowed


def shortage(snapshot: Snapshot, policy: Policy, given: SearchInputs) -> str | None:
    """States which budget does not allow another proposal; None if all do."""
    budget, spent = policy.budget, snapshot.spent
    if evaluations_left(snapshot, policy) == 0:
        return (
            f"{spent.gpu_seconds:.0f} of {budget.gpu_seconds:g} GPU seconds are used; another evaluation may not fit."
        )
    left = remaining_budget(snapshot, policy, given)
    if policy.arms and not left.within(policy.arms):
        return _spent_up(snapshot, policy, left)
    return None


def _spent_up(snapshot: Snapshot, policy: Policy, left: RemainingBudget) -> str:
    if not RemainingBudget(usd=left.usd, tokens=None, ceilings=left.ceilings).within(policy.arms):
        known = f"{snapshot.spent.usd:.2f} of {policy.budget.usd:g} USD are spent; another proposal may not fit."
        return known if not snapshot.spent.unpriced else f"{known[:-1]}{unpriced(snapshot)}."
    return f"{snapshot.spent.tokens} of {policy.budget.tokens} tokens are used; another proposal may not fit."


def unpriced(snapshot: Snapshot) -> str:
    """The addition to a sentence about dollars if some prices are unknown; empty otherwise."""
    count = snapshot.spent.unpriced
    return f", and calls of unknown price ({count}) come on top" if count else ""
