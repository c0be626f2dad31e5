"""One turn of the search: the inputs of a decision, and the briefs written for it."""

from __future__ import annotations

import random
from collections import Counter
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

from warpwright.core.records.search import Action, Arm, Brief, Fate, Member, Operator, Snapshot
from warpwright.evolve.inputs import SearchInputs
from warpwright.evolve.ledger import RemainingBudget, remaining_budget
from warpwright.evolve.policy import Policy
from warpwright.evolve.selection import bandit
from warpwright.evolve.selection.context import context, near_misses
from warpwright.evolve.selection.population import Population, population


@dataclass(frozen=True, slots=True, kw_only=True)
class Draft:
    """A decision without its number and seed."""

    action: Action
    reason: str
    generation: int
    briefs: tuple[Brief, ...] = ()
    candidates: tuple[str, ...] = ()


@dataclass(slots=True, kw_only=True)
class Turn:
    """The state that steps read, and the briefs written so far, whose arms and children count at once."""

    snapshot: Snapshot
    policy: Policy
    given: SearchInputs
    rng: random.Random
    people: Population
    remaining: RemainingBudget
    briefs: list[Brief] = field(default_factory=list)
    _near_misses: list[str] | None = None
    _arm_records: dict[Operator, dict[Arm, bandit.Record]] = field(default_factory=dict)

    @classmethod
    def of(cls, snapshot: Snapshot, policy: Policy, given: SearchInputs, rng: random.Random) -> Turn:
        return cls(
            snapshot=snapshot,
            policy=policy,
            given=given,
            rng=rng,
            people=population(snapshot),
            remaining=remaining_budget(snapshot, policy, given),
        )

    @property
    def generation(self) -> int:
        return self.snapshot.generation

    @property
    def members(self) -> tuple[Member, ...]:
        return self.snapshot.members

    @property
    def newest(self) -> list[Member]:
        return [member for member in self.members if member.generation == self.generation]

    @property
    def last_action(self) -> Action | None:
        return self.snapshot.decisions[-1].action if self.snapshot.decisions else None

    @property
    def all_briefs(self) -> list[Brief]:
        return [*(member.brief for member in self.members), *self.briefs]

    @property
    def planned(self) -> Counter[str]:
        """The number of children requested in this turn, by parent."""
        return Counter(parent for brief in self.briefs for parent in set(brief.parents))

    def ask(self, operator: Operator, parents: tuple[str, ...] = (), **fields: Any) -> bool:
        """Writes a brief for a model; False if the budget allows no arm."""
        arm = self._arm(operator)
        if arm is None:
            return False
        self.remaining.take(arm)
        fields.setdefault("temperature", self.rng.choice(self.policy.temperatures))
        self._write(operator, parents, arm=arm, lesson=self._lesson(), **fields)
        return True

    def ask_with_context(self, operator: Operator, parents: tuple[str, ...], **fields: Any) -> bool:
        if self._near_misses is None:
            self._near_misses = near_misses(self.members, self.people) if self.policy.near_miss else []
        shown = next((candidate for candidate in self._near_misses if candidate not in parents), None)
        return self.ask(
            operator,
            parents,
            context=context(self.people, self.policy.context, parents),
            near_miss=shown,
            **fields,
        )

    def build(self, operator: Operator, parents: tuple[str, ...], genome: Mapping[str, Any]) -> None:
        """Writes a brief without a model."""
        self._write(operator, parents, genome=genome)

    def _write(self, operator: Operator, parents: tuple[str, ...], **fields: Any) -> None:
        number = len(self.members) + len(self.briefs)
        self.briefs.append(Brief(number=number, operator=operator, parents=parents, **fields))

    def _arm(self, operator: Operator) -> Arm | None:
        arms = self.remaining.within(self.policy.arms)
        if not arms:
            return None
        if not self.policy.bandit:
            return self.rng.choice(arms)
        if operator not in self._arm_records:
            self._arm_records[operator] = bandit.records(operator, self.members, self.people, self.policy)
        in_flight = Counter(brief.arm for brief in self.briefs if brief.arm and brief.operator is operator)
        return bandit.pick(arms, self._arm_records[operator], in_flight, self.policy)

    def _lesson(self) -> str | None:
        """One of the run's own lessons or, as long as there is none, of earlier runs."""
        lessons = [text for text in self.snapshot.lessons if text] or self.given.lessons
        return self.rng.choice(lessons) if lessons else None

    def waiting(self) -> list[Member]:
        return [member for member in self.members if member.fate is Fate.WAITING]

    def breed(self, reason: str, *, generation: int | None = None) -> Draft | None:
        """The decision to breed; None if no brief was written."""
        if not self.briefs:
            return None
        return Draft(
            action=Action.BREED,
            reason=reason,
            generation=self.generation if generation is None else generation,
            briefs=tuple(self.briefs),
        )
