"""Planning: `plan` traces, lowers and schedules a task once for a GPU; `write` gives the source for a config."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any

from warpwright.compose import configs
from warpwright.compose.code.definitions import Item
from warpwright.compose.cuda.program import program, source
from warpwright.compose.entries import backward_entry, forward_entry, places_of, training_entries
from warpwright.compose.errors import CannotCompose, bugs_as_faults
from warpwright.compose.ir.operations import Op
from warpwright.compose.ir.sizes import Cases, names_in
from warpwright.compose.ir.values import Graph
from warpwright.compose.kernels.registry import shapes
from warpwright.compose.kernels.site import Site, sites_of
from warpwright.compose.kernels.steps import EntryWriter
from warpwright.compose.passes.unit_dims import dim_timed_as_one, handed_over
from warpwright.compose.schedule.entry import Entry
from warpwright.compose.schedule.knobs import Config, Knob, Space, variations_of
from warpwright.compose.schedule.row_shapes import is_few_and_long, is_too_long
from warpwright.compose.schedule.spaces import ROWS
from warpwright.core.dtypes import dtype_named
from warpwright.core.gpus.table import gpu_named
from warpwright.core.task import Direction, Role, ScalarArg, Task, TensorArg

LONGEST = 2**31 - 2**24
"""The least unsupported row length."""


@dataclass(frozen=True, kw_only=True)
class Composable:
    """A task that the composer can write kernels for, on one GPU."""

    task: Task
    graph: Graph
    entries: tuple[Entry, ...]
    knobs: tuple[Knob, ...]
    usual: Config
    """The default of every knob, effective or not."""

    def space(self) -> Space:
        """Every knob that has an effect on this task, with the values it may take."""
        with bugs_as_faults(f"writing {self.task.key}"):
            return self._effective

    @cached_property
    def _sites(self) -> list[list[Site]]:
        return [sites_of(entry) for entry in self.entries]

    @cached_property
    def _effective(self) -> Space:
        """Strategies say what their kernels take from a config; the knobs of a whole source are tried on one text."""
        whole = configs.of_source(self.graph.gpu)
        of_kernels = [knob for knob in self.knobs if knob not in whole]
        found = configs.effective(of_kernels, self.usual, self._shape)
        writers = self.writers(self.usual)
        tried = [knob for knob in self.knobs if knob in whole]
        return found | configs.effective(tried, self.usual, lambda config: source(self.task, writers, config, {}))

    def _shape(self, config: Config) -> list[object]:
        return [shapes(sites, config) for sites in self._sites]

    def variants(self, count: int) -> list[dict[str, Any]]:
        """The default config and variations of it, the most relevant first."""
        changes = variations_of(self.knobs)
        return configs.variants(self.space(), self.default(), changes, self.text, count)

    def text(self, config: Config) -> str:
        """A source without a config at its head; knobs that are not given have their defaults."""
        return self._written({**self.usual, **config}, {})

    def default(self) -> dict[str, Any]:
        return {name: self.usual[name] for name in self.space()}

    def write(self, config: Config) -> str:
        chosen = configs.completed(self.space(), self.usual, config)
        return self._written({**self.usual, **chosen}, chosen)

    def _written(self, config: Config, shown: Config) -> str:
        with bugs_as_faults(f"writing {self.task.key}"):
            return source(self.task, self.writers(config), config, shown)

    def program(self, config: Config) -> list[Item]:
        """The definitions of a source, before they are printed; knobs that are not given have their defaults."""
        complete = {**self.usual, **config}
        with bugs_as_faults(f"writing {self.task.key}"):
            return program(self.task, self.writers(complete), complete)

    def writers(self, config: Config) -> list[EntryWriter]:
        """Write every entry with a complete config."""
        writers = [EntryWriter(self.task, entry, config) for entry in self.entries]
        for writer, sites in zip(writers, self._sites, strict=True):
            writer.write(sites)
        return writers


def plan(task: Task, gpu: str = "h200") -> Composable:
    """Plans a task. Raises CannotCompose with the unsupported operation, and OurFault for a bug of the composer."""
    target = gpu_named(gpu)
    graph = Graph(_cases(task), target)
    _check_types(task)
    with bugs_as_faults(f"planning {task.key}"):
        entries = _entries(task, graph)
        if often := dim_timed_as_one(graph):
            entries = handed_over(entries, _entries(task, Graph(_cases(task, one=often[0]), target)), *often)
        _check_lengths(entries)
        groups = [group for entry in entries for group in entry.schedule.groups]
        knobs = configs.knobs(groups, target)
        streams = _reads_again(entries) or _in_parts(entries)
        usual = configs.usual(knobs, groups, streams, bool(graph.made(Op.NARROW)))
        return Composable(task=task, graph=graph, entries=tuple(entries), knobs=tuple(knobs), usual=usual)


def _cases(task: Task, one: str | None = None) -> Cases:
    """The cases of the task; with `one`, only those with this size equal to 1 are timed."""
    given, preferred = _assignments(task), _preferred(task)
    timed = [number for number, case in enumerate(task.cases) if case.role is Role.TIME]
    if one is not None:
        timed = [number for number in timed if given[number][one] == 1]
        given, preferred = [{**names, one: 1} for names in given], ["1", *preferred]
    return Cases(given, preferred, timed or None, [dtype_named(case.dtype).bytes for case in task.cases])


def _entries(task: Task, graph: Graph) -> list[Entry]:
    if task.direction is Direction.FORWARD:
        return [forward_entry(task, graph)]
    if task.direction is Direction.BACKWARD:
        return [backward_entry(task, graph)]
    return training_entries(task, graph)


def _check_lengths(entries: Sequence[Entry]) -> None:
    """Checks that row positions, including those slightly past the end, fit into 32 bits."""
    groups = [group for entry in entries for group in entry.schedule.groups]
    rows = [group.space.columns for group in groups if group.space.kind == ROWS]
    values = [group.stores[0].value for group in groups]
    rows += [value.first.shape[-1] for value in values if value.op in (Op.SCAN, Op.TOPK)]
    if any(length >= LONGEST for columns in rows for length in columns.values):
        raise CannotCompose(f"rows of {LONGEST} elements and more")


def _check_types(task: Task) -> None:
    """Refuses float64: everything is computed in float32."""
    declared = [item.dtype for item in (*task.arguments, *task.outputs) if not isinstance(item, ScalarArg)]
    if "fp64" in (*declared, *task.dtypes):
        raise CannotCompose("float64")


def _reads_again(entries: Sequence[Entry]) -> bool:
    """Whether timed rows are too long or too few to be kept on chip: then they should stay in the cache, and results
    should bypass it."""
    return any(
        is_few_and_long(group.space.rows, group.space.columns, entry.graph.cases, entry.graph.gpu)
        or is_too_long(group.space.columns, entry.graph.cases)
        for entry in entries
        for group in entry.schedule.groups
        if group.space.kind == ROWS
    )


def _in_parts(entries: Sequence[Entry]) -> bool:
    """Whether outputs are written as slices: streaming stores are 20 % faster then."""
    stores = [store for entry in entries for group in entry.schedule.groups for store in group.stores]
    return any(store.dim is not None for store in stores)


def _assignments(task: Task) -> list[dict[str, int]]:
    """The values of sizes and integers in each case."""
    found = []
    for case in task.cases:
        numbers = {name: value for name, value in case.scalars.items() if type(value) is int}
        found.append({**numbers, **case.dims})
    return found


def _preferred(task: Task) -> list[str]:
    """The formulas of the task's sizes, and products of adjacent ones."""
    declared = [item.shape for item in (*task.outputs, *task.saves)]
    declared += [
        argument.shape for argument in task.arguments if isinstance(argument, TensorArg) and argument.count is None
    ]
    found: dict[str, None] = {}
    for shape in declared:
        texts = [str(size) if str(size).isidentifier() else f"({size})" for size in shape if not isinstance(size, int)]
        found |= {str(size): None for size in shape if not isinstance(size, int)}
        for first in range(len(texts)):
            found |= {"*".join(texts[first:last]): None for last in range(first + 2, len(texts) + 1)}
    found |= dict.fromkeys(_shares(task))
    shown = _shown(task)
    return [formula for formula in found if names_in(formula) <= shown]


def _shown(task: Task) -> set[str]:
    """The names of sizes that the arguments show."""
    if task.direction is Direction.FORWARD:
        return set(places_of(task))
    return {name for case in task.cases for name in (*case.dims, *case.scalars)}


def _shares(task: Task) -> list[str]:
    """Formulas of sizes divided by integers, as channels by groups, if they divide evenly in every case."""
    counts = [name for name, value in task.cases[0].scalars.items() if type(value) is int]
    given = _assignments(task)
    return [
        f"{size}//{name}"
        for name in counts
        for size in task.cases[0].dims
        if all(case[name] > 0 and case[size] % case[name] == 0 for case in given)
    ]
