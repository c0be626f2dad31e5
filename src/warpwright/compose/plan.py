"""From a task to what can be written for it: `plan` traces and matches once, `write` gives a source for a genome."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

from warpwright.compose import configs as genomes
from warpwright.compose.cuda.program import source
from warpwright.compose.entries import backward_entry, forward_entry, places_of, training_entries
from warpwright.compose.errors import CannotCompose
from warpwright.compose.ir.operations import OWN_KERNEL, Op
from warpwright.compose.ir.sizes import Cases, names_in
from warpwright.compose.ir.values import Graph
from warpwright.compose.kernels.steps import EntryWriter
from warpwright.compose.passes.unit_dims import handed_over, often_one
from warpwright.compose.schedule.entry import Entry
from warpwright.compose.schedule.groups import ROWS
from warpwright.compose.schedule.row_shapes import is_few_and_long, is_too_long
from warpwright.core.dtypes import dtype_named
from warpwright.core.task import Direction, Role, ScalarArg, Task, TensorArg

Genome = Mapping[str, Any]
LONGEST = 2**31 - 2**24
"""Elements of a row that are one too many."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Composable:
    """A task that the composer can write kernels for."""

    task: Task
    graph: Graph
    entries: tuple[Entry, ...]
    genes: Mapping[str, tuple[Any, ...]]
    usual: Genome
    """What is chosen for every gene, telling or not."""

    def space(self) -> Mapping[str, tuple[Any, ...]]:
        """Every gene that matters for this task, with the values it may take."""
        return self.genes

    def variants(self, count: int) -> list[dict[str, Any]]:
        """The default genome and others that differ from it in what is likely to matter, most telling first."""
        return genomes.variants(self.genes, self.default(), self._text, count)

    def _text(self, genome: Genome) -> str:
        """Of a source, all but the genome it remembers."""
        return genomes.forgotten(self.write(genome))

    def default(self, gpu: str = "h200") -> dict[str, Any]:
        return {name: self.usual[name] for name in self.genes}

    def write(self, genome: Genome) -> str:
        chosen = genomes.completed(self.genes, self.usual, genome)
        whole = {**self.usual, **chosen}
        writers = [EntryWriter(self.task, entry, whole) for entry in self.entries]
        for writer in writers:
            writer.write()
        return source(self.task, writers, chosen)


def plan(task: Task) -> Composable:
    """Raises CannotCompose with the operation that is in the way."""
    graph = Graph(_cases(task))
    _check_types(task)
    try:
        entries = _entries(task, graph)
        if often := often_one(graph):
            entries = handed_over(entries, _entries(task, Graph(_cases(task, one=often[0]))), *often)
        _check_lengths(entries)
        kinds = [kind for entry in entries for group in entry.schedule.groups for kind in group.kinds]
        usual = genomes.usual(kinds, _reads_again(entries) or _in_parts(entries), bool(graph.made(Op.NARROW)))
        whole = Composable(task=task, graph=graph, entries=tuple(entries), genes=genomes.space(kinds), usual=usual)
        return replace(whole, genes=genomes.telling(whole.genes, usual, whole._text))
    except (AssertionError, AttributeError, LookupError, StopIteration, TypeError, ValueError):
        # A combination of operations that nobody thought of: each is known, but not how to schedule them together.
        raise CannotCompose(f"a function of {', '.join(_hard_parts(graph))} as a whole") from None


def _cases(task: Task, one: str | None = None) -> Cases:
    """All cases of the task; or the same with a size of one, where those are timed that have it."""
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
    """Kernels count along a row in 32 bits, and a little beyond its end."""
    groups = [group for entry in entries for group in entry.schedule.groups]
    rows = [group.space.columns for group in groups if group.space.kind == ROWS]
    values = [group.stores[0].value for group in groups]
    rows += [value.first.shape[-1] for value in values if value.op in (Op.SCAN, Op.TOPK)]
    if any(length >= LONGEST for columns in rows for length in columns.values):
        raise CannotCompose(f"rows of {LONGEST} elements and more")


def _check_types(task: Task) -> None:
    """All is computed in float32, which is too coarse for longer floats."""
    declared = [item.dtype for item in (*task.arguments, *task.outputs) if not isinstance(item, ScalarArg)]
    if "fp64" in (*declared, *task.dtypes):
        raise CannotCompose("float64")


def _reads_again(entries: Sequence[Entry]) -> bool:
    """Whether rows that are timed are too long to be kept, or too few: they should stay in the cache while results pass
    by it."""
    return any(
        is_few_and_long(group.space.rows, group.space.columns, entry.graph.cases)
        or is_too_long(group.space.columns, entry.graph.cases)
        for entry in entries
        for group in entry.schedule.groups
        if group.space.kind == ROWS
    )


def _in_parts(entries: Sequence[Entry]) -> bool:
    """Whether threads write parts of a tensor that lie apart: past the cache that takes a fifth less time."""
    stores = [store for entry in entries for group in entry.schedule.groups for store in group.stores]
    return any(store.dim is not None for store in stores)


def _hard_parts(graph: Graph) -> list[str]:
    """The operations that are more than elementwise, by their names in ATen."""
    names = {
        Op.COLUMNS: "sum",
        Op.LIBRARY: "mm",
        Op.LISTS: "index_put",
        Op.SCAN: "cumsum",
        Op.POOL: "max_pool2d",
    }
    found = {f"aten.{names.get(op, op)}": None for op in OWN_KERNEL if graph.made(op)}
    return list(found) or ["elementwise operations"]


def _assignments(task: Task) -> list[dict[str, int]]:
    """What every size and whole number is in each case."""
    found = []
    for case in task.cases:
        numbers = {name: value for name, value in case.scalars.items() if type(value) is int}
        found.append({**numbers, **case.dims})
    return found


def _preferred(task: Task) -> list[str]:
    """Sizes as the task writes them, and products of neighbours."""
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
    """The sizes that an entry point can know: of results, a forward pass knows only what its arguments show."""
    if task.direction is Direction.FORWARD:
        return set(places_of(task))
    return {name for case in task.cases for name in (*case.dims, *case.scalars)}


def _shares(task: Task) -> list[str]:
    """Sizes in equal parts, as channels in groups, where every case comes out even."""
    counts = [name for name, value in task.cases[0].scalars.items() if type(value) is int]
    given = _assignments(task)
    return [
        f"{size}//{name}"
        for name in counts
        for size in task.cases[0].dims
        if all(case[name] > 0 and case[size] % case[name] == 0 for case in given)
    ]
