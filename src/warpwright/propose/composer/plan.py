"""From a task to what can be written for it: `plan` traces and matches once, `write` gives a source for a genome."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace
from typing import Any

from warpwright.core.dtypes import dtype_named
from warpwright.core.task import Direction, Role, Task, TensorArg
from warpwright.propose.composer import genomes
from warpwright.propose.composer.entries import backward_entry, forward_entry
from warpwright.propose.composer.host import Entry
from warpwright.propose.composer.program import source
from warpwright.propose.composer.sizes import Cases
from warpwright.propose.composer.steps import EntryWriter
from warpwright.propose.composer.training import training_entries
from warpwright.propose.composer.values import Graph

Genome = Mapping[str, Any]


@dataclass(frozen=True, slots=True, kw_only=True)
class Composable:
    """A task that the composer can write kernels for."""

    task: Task
    graph: Graph
    entries: tuple[Entry, ...]
    genes: Mapping[str, tuple[Any, ...]]

    def space(self) -> Mapping[str, tuple[Any, ...]]:
        """Every gene that matters for this task, with the values it may take."""
        return self.genes

    def variants(self, count: int) -> list[dict[str, Any]]:
        """The default genome and others that differ from it in what is likely to matter, most telling first."""
        return genomes.variants(self.genes, self._text, count)

    def _text(self, genome: Genome) -> str:
        """Of a source, all but the genome it remembers."""
        return genomes.forgotten(self.write(genome))

    def default(self, gpu: str = "h200") -> dict[str, Any]:
        return genomes.default(self.space())

    def write(self, genome: Genome) -> str:
        chosen = genomes.completed(self.space(), genome)
        whole = {**genomes.DEFAULTS, **chosen}
        writers = [EntryWriter(self.task, self.graph, entry, whole) for entry in self.entries]
        for writer in writers:
            writer.write()
        return source(self.task, writers, chosen)


def plan(task: Task) -> Composable:
    """Raises CannotCompose with the operation that is in the way."""
    timed = [position for position, case in enumerate(task.cases) if case.role is Role.TIME]
    widths = [dtype_named(case.dtype).bytes for case in task.cases]
    graph = Graph(Cases(_assignments(task), _preferred(task), timed or None, widths))
    if task.direction is Direction.FORWARD:
        entries = [forward_entry(task, graph)]
    elif task.direction is Direction.BACKWARD:
        entries = [backward_entry(task, graph)]
    else:
        entries = training_entries(task, graph)
    kinds = [kind for entry in entries for group in entry.schedule.groups for kind in group.kinds]
    whole = Composable(task=task, graph=graph, entries=tuple(entries), genes=genomes.space(kinds))
    return replace(whole, genes=genomes.telling(whole.genes, whole._text))


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
    return list(found)
