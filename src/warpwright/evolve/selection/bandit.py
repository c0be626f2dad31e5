"""Selects the model to ask, and its effort, by reward per price, separately for each operator.

A multi-armed bandit with upper confidence bounds over discounted rewards. A request without an answer yet counts as a
pull, so that one decision spreads its requests. A fault of ours or of a server does not count.
"""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass

from warpwright.core.records.search import Arm, Fate, Member, Operator
from warpwright.evolve.policy import Policy
from warpwright.evolve.selection.population import RIGHT, Population

MUST_BE_RIGHT = (Operator.TRANSLATE, Operator.DERIVE, Operator.REPAIR)
"""Operators that are rewarded for a correct candidate; the others are rewarded for a faster one."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Record:
    """The history of an arm: discounted number of pulls, discounted sum of rewards, mean price of a pull if known."""

    pulls: float
    reward: float
    price: float | None

    @property
    def mean(self) -> float:
        return self.reward / self.pulls


def pick(arms: Sequence[Arm], records: dict[Arm, Record], in_flight: Counter[Arm], policy: Policy) -> Arm:
    """The first arm that was never pulled, otherwise the highest bound."""
    for arm in arms:
        if arm not in records and not in_flight[arm]:
            return arm
    return max(arms, key=lambda arm: _bound(arm, records, in_flight, policy))


def _bound(arm: Arm, records: dict[Arm, Record], in_flight: Counter[Arm], policy: Policy) -> float:
    record = records.get(arm)
    pulls = (record.pulls if record else 0.0) + in_flight[arm]
    total = sum(item.pulls for item in records.values()) + in_flight.total()
    most = max((item.mean for item in records.values()), default=0.0) or 1.0
    mean = record.mean / most if record else 0.0
    return (mean + policy.curiosity * math.sqrt(2 * math.log(1 + total) / pulls)) / _relative_price(
        arm, records, policy
    )


def _relative_price(arm: Arm, records: dict[Arm, Record], policy: Policy) -> float:
    """The price over the lowest price, to the power of `thrift`. An unknown price counts as the highest known one."""
    prices = [item.price for item in records.values() if item.price]
    record = records.get(arm)
    if not prices:
        return 1.0
    return float(((record.price if record and record.price else max(prices)) / min(prices)) ** policy.thrift)


def records(operator: Operator, members: Sequence[Member], people: Population, policy: Policy) -> dict[Arm, Record]:
    """Each arm's record with one operator. Every later pull discounts the earlier ones."""
    pulls: dict[Arm, list[tuple[float, Member]]] = {}
    fading = 1.0
    for member in reversed(members):
        arm = member.brief.arm
        if arm is None or member.brief.operator is not operator or member.fate in (Fate.ASKED, Fate.FAULTED):
            continue
        pulls.setdefault(arm, []).append((fading, member))
        fading *= policy.decay
    return {arm: _record(found, people) for arm, found in pulls.items()}


def _record(pulls: Sequence[tuple[float, Member]], people: Population) -> Record:
    prices = [member.cost_usd for _, member in pulls if member.cost_usd is not None]
    return Record(
        pulls=sum(weight for weight, _ in pulls),
        reward=sum(weight * reward(member, people) for weight, member in pulls),
        price=math.fsum(prices) / len(prices) if prices else None,
    )


def reward(member: Member, people: Population) -> float:
    if member.brief.operator in MUST_BE_RIGHT:
        return float(member.fate in RIGHT)
    return max(people.gain(member) or 0.0, 0.0)
