"""Sites: positions in a schedule where kernels are needed."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property
from typing import Any, TypeVar

from warpwright.compose.cuda.kernel import listed
from warpwright.compose.ir.operations import Op
from warpwright.compose.ir.tensors import Store, Tensor
from warpwright.compose.ir.values import Graph
from warpwright.compose.schedule.entry import Entry
from warpwright.compose.schedule.groups import Group
from warpwright.compose.schedule.spaces import Space

Found = TypeVar("Found")


@dataclass(frozen=True, kw_only=True)
class Site:
    """A group of a schedule, with what is known when its turn comes."""

    entry: Entry
    index: int
    group: Group
    held: Mapping[int, Tensor]
    """What lies in memory by then, by number of the value."""
    siblings: Sequence[Site] = ()
    """All sites of the entry point, in order."""
    is_streamed: bool = False
    """Whether another kernel takes all rows that can be kept on the chip."""
    _memo: dict[str, Any] = field(default_factory=dict, compare=False, repr=False)

    @property
    def graph(self) -> Graph:
        return self.entry.graph

    @property
    def space(self) -> Space:
        return self.group.space

    @property
    def first(self) -> Store:
        return self.group.stores[0]

    @cached_property
    def column_sums(self) -> list[Store]:
        return [store for store in self.group.stores if store.value.op is Op.COLUMNS]

    @cached_property
    def other_stores(self) -> list[Store]:
        return [store for store in self.group.stores if store not in self.column_sums]

    @cached_property
    def reads(self) -> frozenset[str]:
        """The tensors that its kernels read."""
        found, seen = set(), set()
        waiting = [value for store in self.group.stores for value in (store.value, *store.at)]
        while waiting:
            value = waiting.pop()
            if value.number in self.held:
                found.add(self.held[value.number].name)
            elif value.number not in seen:
                seen.add(value.number)
                waiting += value.args
        return frozenset(found)

    @property
    def writes(self) -> frozenset[str]:
        return frozenset(store.tensor.name for store in self.group.stores)

    @cached_property
    def read_before(self) -> frozenset[str]:
        """The tensors that kernels before it have read; library calls leave nothing in the cache that is known."""
        before = self.siblings[: self.index]
        return frozenset().union(*(site.reads for site in before if site.first.value.op is not Op.LIBRARY))

    @property
    def is_listed(self) -> bool:
        """Whether it works on lists of tensors."""
        return any(store.tensor.listed for store in self.group.stores)

    @property
    def comment(self) -> str:
        return f"Computes {listed(self.group.stores)}."

    def once(self, what: str, found: Callable[[], Found]) -> Found:
        """What strategies have found out about the site, by name, so that they need not again for each config."""
        if what not in self._memo:
            self._memo[what] = found()
        answer: Found = self._memo[what]
        return answer

    def of(self, group: Group, *, is_streamed: bool = False) -> Site:
        """The same position, for a part of its work."""
        return replace(self, group=group, is_streamed=is_streamed, _memo={})


def sites_of(entry: Entry) -> list[Site]:
    schedule, given = entry.schedule, entry.inputs
    found: list[Site] = []
    for index, group in enumerate(schedule.groups):
        late = {number for number, maker in schedule.made_by.items() if maker >= index and number not in given}
        held = {number: tensor for number, tensor in schedule.held.items() if number not in late}
        found.append(Site(entry=entry, index=index, group=group, held=held, siblings=found))
    return found
