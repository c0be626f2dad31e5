"""Writes the steps of an entry point: strategies turn each group of its schedule into kernels or a library call."""

from __future__ import annotations

from collections.abc import Sequence, Set
from functools import partial

from warpwright.compose.code.statements import Assign, Do, If
from warpwright.compose.code.text import Code, code
from warpwright.compose.cuda import library
from warpwright.compose.cuda.host import HostWriter, Step
from warpwright.compose.cuda.kernel import Written
from warpwright.compose.ir.naming import stem_of
from warpwright.compose.ir.operations import Op
from warpwright.compose.ir.tensors import Store
from warpwright.compose.kernels.registry import Choice, chosen
from warpwright.compose.kernels.site import Site
from warpwright.compose.schedule.groups import Group
from warpwright.compose.schedule.spaces import COLUMNS, ELEMENTS, ROWS, STRIDED

ALONE_NAMES = {
    Op.TOPK: "topk",
    Op.POOL: "windows",
    Op.SCATTER: "scatter",
    Op.LISTS: "rows",
    Op.SCAN: "scan",
}
"""What kernels are called that do one special thing."""


class EntryWriter(HostWriter):
    """Kernels and host code of one entry."""

    def write(self, sites: Sequence[Site]) -> None:
        index = 0
        while index < len(sites):
            index += self.serve(sites[index])
            self.steps += 1

    def serve(self, site: Site, alone: bool = False) -> int:
        """Writes what serves a site, and as many after it as the result says; those that may decline are asked first.
        `alone` leaves out what would serve more."""
        choice = chosen(site, self.config, alone=alone)
        self._write(site, choice)
        return choice[-1][1].groups

    def _write(self, site: Site, choice: Choice) -> None:
        (strategy, _), *rest = choice
        strategy.write(site, self, partial(self._write, site, rest))

    def kernel_name(self, group: Group) -> str:
        taken = {kernel.name for kernel in self.kernels}
        kinds = {ELEMENTS: "elements", ROWS: "rows", STRIDED: "strided_rows", COLUMNS: "columns"}
        kind = kinds.get(group.space.kind) or ALONE_NAMES.get(group.stores[0].value.op, "step")
        whose = stem_of(self.task.name)
        stem = f"{whose}_{kind}" if self.entry.name == "forward" else f"{whose}_{self.entry.name}_{kind}"
        name, count = stem, 1
        while name in taken:
            count += 1
            name = f"{stem}_{count}"
        return name

    def given(self) -> Set[str]:
        """The tensors that lay in memory before the call and have not been written to since."""
        written = {name for kernel in self.kernels for name in kernel.needs.writes}
        return {tensor.name for tensor in self.entry.inputs.values()} - written

    def launch(self, kernel: Written) -> None:
        self.kernels.append(kernel)
        self.calls.append(Step(Do(self.call_of(kernel)), launches=True))

    def first_try(self, kernel: Written, start: int) -> None:
        """Makes the calls from `start` on only if the kernel's launcher declines."""
        self.unless_taken(self.call_of(kernel), start)

    def unless_taken(self, call: Code, start: int) -> None:
        """Makes the calls from `start` on only if this one declines."""
        inner = tuple(step.statement for step in self.calls[start:])
        self.calls[start:] = [Step(If(code("!{call}", call=call), inner), launches=True)]

    def by_library(self, store: Store, site: Site) -> None:
        """A product, into a tensor that there is already."""
        text = library.call(store.value, site.held, self.size, self.types())
        self.calls.append(Step(Assign(store.tensor.name, text), launches=True))
