"""Which model to ask, and how hard it shall think: by what each gave for its price, operator by operator.

Upper confidence bounds over rewards that fade with age. What is asked but not answered yet counts as a pull, so that
one decision spreads its questions. A fault of ours or of a server says nothing of an arm.
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
"""Operators that have done their work when the candidate is right; the others must make it faster."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Record:
    """What an arm has done: faded number of pulls, faded sum of rewards, price of a pull where it is known."""

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
    return (mean + policy.curiosity * math.sqrt(2 * math.log(1 + total) / pulls)) / _dearness(arm, records, policy)


def _dearness(arm: Arm, records: dict[Arm, Record], policy: Policy) -> float:
    """Price over the lowest price, tempered. An unknown price is taken for the dearest known one, not for nothing."""
    prices = [item.price for item in records.values() if item.price]
    record = records.get(arm)
    if not prices:
        return 1.0
    return float(((record.price if record and record.price else max(prices)) / min(prices)) ** policy.thrift)


def records(operator: Operator, members: Sequence[Member], people: Population, policy: Policy) -> dict[Arm, Record]:
    """Each arm's record with one operator. Older pulls fade with every later one."""
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
