"""Machine: regions, loops, branches and calls of one batch of programs.

Programs of a batch run in step. Where a condition differs between them both ways are taken, each with the programs that
go there; a loop goes on while any of them does.
"""

from __future__ import annotations

from collections.abc import Callable
from importlib import import_module
from typing import Any

import numpy as np

from warpwright.core.errors import Undecided
from warpwright.ttir.findings import Finding, Findings, Kind, Triple
from warpwright.ttir.memory.access import Access
from warpwright.ttir.numbers import Array
from warpwright.ttir.operations.descriptors import Descriptor
from warpwright.ttir.operations.table import meaning
from warpwright.ttir.syntax.tree import Block, Function, Module, Operation, Region

for _room in ("arithmetic", "functions", "libdevice", "shapes", "pointers", "atomics", "folds", "products", "control"):
    import_module(f"warpwright.ttir.operations.{_room}")

_MOST_STEPS = 1_000_000
_MOST_SPINS = 10_000
_ENDS = ("scf.yield", "scf.condition", "tt.return", "tt.reduce.return", "tt.scan.return", "tt.map_elementwise.return")
_INCOHERENT = (KeyError, IndexError, ValueError, TypeError, AttributeError, AssertionError, MemoryError, OverflowError)
"""What numpy and Python say of operands that do not fit: IR comes out of a sandbox and may be anything."""
Names = dict[str, Any]


class Machine:
    def __init__(self, module: Module, access: Access, findings: Findings, grid: Triple) -> None:
        self.module, self.access, self.findings, self.grid = module, access, findings, grid
        self.spots: tuple[Array, Array, Array] = (np.zeros(1, np.int32),) * 3
        self.active: Array | None = None
        """The programs that go where the machine is; None stands for all."""
        self.steps = 0
        self._names: Names = {}

    def run(self, function: Function, numbers: Array, arguments: list[Any]) -> None:
        """Run the programs with these numbers."""
        self.access.programs = numbers.astype(np.int32)
        x, y, _ = self.grid
        spots = numbers % x, numbers // x % y, numbers // (x * y)
        self.spots = tuple(spot.astype(np.int32) for spot in spots)  # type: ignore[assignment]
        self.active, self.steps = None, 0
        with np.errstate(all="ignore"):
            self.call(function.name, arguments)

    # Where the programs are

    def mask(self, mask: Array | None, rank: int) -> Array | None:
        """A mask of a memory access, off for programs that are not here."""
        if self.active is None:
            return mask
        here = self.active.reshape(-1, *(1,) * (rank - 1))
        return here if mask is None else mask & here

    def lanes(self, condition: Array) -> Array:
        """A condition, for the programs that are here."""
        if self.active is None:
            return condition
        return np.asarray(condition & self.active.reshape(-1, *(1,) * (condition.ndim - 1)))

    def first_program(self, condition: Array) -> Triple:
        at = int(np.argmax(condition.reshape(condition.shape[0], -1).any(1)))
        return self.access.reports.program(int(self.access.programs[at]))

    def report_assert(self, operation: Operation, failed: Array, does: str) -> None:
        spot = self.first_program(failed)
        text = f"program {spot[0] if spot[1:] == (0, 0) else spot} {does}"
        self.findings.add(
            Kind.ASSERT,
            operation.line,
            int(failed.sum()),
            lambda: Finding(kind=Kind.ASSERT, message=text, line=operation.line, program=spot),
        )

    def unsupported(self, operation: Operation, what: str) -> Any:
        raise Undecided(f"unsupported: {operation.name} with {what}")

    def merge(self, condition: Array, yes: Any, no: Any) -> Any:
        """The first value where the condition holds. A condition of programs reaches all axes of a value."""
        if isinstance(yes, Descriptor):
            return self._merge_descriptors(condition, yes, no)
        if yes is no:
            return yes
        rank = max(yes.ndim, no.ndim)
        if condition.ndim < rank:
            condition = condition.reshape(-1, *(1,) * (rank - 1))
        return np.where(condition, yes, no)

    def _merge_descriptors(self, condition: Array, yes: Descriptor, no: Descriptor) -> Descriptor:
        base = self.merge(condition, yes.base, no.base)
        shape = tuple(self.merge(condition, a, b) for a, b in zip(yes.shape, no.shape, strict=True))
        strides = tuple(self.merge(condition, a, b) for a, b in zip(yes.strides, no.strides, strict=True))
        return Descriptor(base, shape, strides, yes.tile, yes.element, yes.fills_nan)

    # Regions

    def block(self, block: Block, names: Names) -> tuple[Operation, list[Any]]:
        """Run a block; its last operation, and that operation's operands."""
        for operation in block.operations[:-1]:
            self._step(operation, names)
        last = block.operations[-1]
        if last.name not in _ENDS and not last.targets:
            self._step(last, names)
            return Operation("scf.yield"), []
        return last, [names[name] for name in last.operands]

    def _step(self, operation: Operation, names: Names) -> None:
        self.steps += 1
        if self.steps > _MOST_STEPS:
            raise Undecided("too long: a batch of programs takes more than a million steps")
        try:
            found = self._found(operation, [names[name] for name in operation.operands], names)
            if operation.results:
                several = found if isinstance(found, tuple) else (found,)
                names.update(zip(operation.results, several, strict=True))
        except _INCOHERENT as error:
            what = f"{type(error).__name__}: {error!s:.200}"
            raise Undecided(f"unsupported: {operation.name} as the IR writes it ({what})") from error

    def _found(self, operation: Operation, values: list[Any], names: Names) -> Any:
        structure = _STRUCTURES.get(operation.name)
        if structure is not None:
            return structure(self, operation, values, names)
        self.access.line = operation.line
        return meaning(operation)(self, operation, values)

    def region(self, region: Region, names: Names, given: list[Any]) -> list[Any]:
        """Run a region of one block."""
        if not region:
            return []
        if len(region) > 1:
            raise Undecided("unsupported: branches within a region")
        block = region[0]
        names.update(zip((name for name, _ in block.parameters), given, strict=True))
        return self.block(block, names)[1] if block.operations else []

    def combine(self, region: Region, values: list[Any]) -> list[Any]:
        """Run the region of a reduction on whole tensors."""
        return self.region(region, self._names, values)

    # Functions

    def call(self, name: str, arguments: list[Any]) -> Any:
        if name not in self.module.functions or not self.module.functions[name].body:
            raise Undecided(f"unsupported: the function {name}")
        function = self.module.functions[name]
        names = dict(zip((name for name, _ in function.parameters), arguments, strict=True))
        outer, self._names = self._names, names
        found = self._blocks(function.body, names)
        self._names = outer
        return tuple(found) if len(found) != 1 else found[0]

    def _blocks(self, blocks: Region, names: Names) -> list[Any]:
        """Run blocks that branch to each other, earlier blocks first; programs that meet again go on together."""
        if len(blocks) == 1:
            return self.block(blocks[0], names)[1]
        outside = self.active
        labels = {block.label: number for number, block in enumerate(blocks)}
        waiting: dict[int, Array] = {0: self._everyone()}
        results: list[Any] | None = None
        while waiting:
            number = min(waiting)
            here = waiting.pop(number)
            self.active = None if here.all() else here
            last, values = self._block_again(blocks[number], names, here)
            if last.name == "tt.return":
                results = values if results is None else self._merged(here, values, results)
            else:
                self._branch(last, values, names, blocks, labels, waiting, here)
        self.active = outside
        return results or []

    def _everyone(self) -> Array:
        return np.ones(len(self.access.programs), np.bool_) if self.active is None else self.active

    def _block_again(self, block: Block, names: Names, here: Array) -> tuple[Operation, list[Any]]:
        """Values of programs that came through earlier stay theirs."""
        before = dict(names)
        last, values = self.block(block, names)
        for operation in block.operations[:-1]:
            for name in operation.results:
                if name in before:
                    names[name] = self.merge(here, names[name], before[name])
        return last, values

    def _merged(self, here: Array, values: list[Any], others: list[Any]) -> list[Any]:
        return [self.merge(here, value, other) for value, other in zip(values, others, strict=True)]

    def _branch(
        self,
        last: Operation,
        values: list[Any],
        names: Names,
        blocks: Region,
        labels: dict[str, int],
        waiting: dict[int, Array],
        here: Array,
    ) -> None:
        ways = [here]
        if last.name == "cf.cond_br":
            condition = np.broadcast_to(values[0].astype(np.bool_), here.shape)
            ways = [here & condition, here & ~condition]
        elif last.name != "cf.br":
            raise Undecided(f"unsupported: {last.name}")
        for (label, handed), going in zip(last.targets, ways, strict=True):
            if going.any():
                self._hand_over(blocks[labels[label]], [names[name] for name in handed], names, going)
                number = labels[label]
                waiting[number] = waiting.get(number, np.zeros_like(going)) | going

    def _hand_over(self, block: Block, values: list[Any], names: Names, going: Array) -> None:
        for (name, _), value in zip(block.parameters, values, strict=True):
            names[name] = self.merge(going, value, names[name]) if name in names else value

    # Loops and branches

    def branch_if(self, operation: Operation, values: list[Any], names: Names) -> Any:
        condition = values[0].astype(np.bool_)
        here = self.lanes(condition)
        nowhere = self.lanes(~condition)
        yes, no = operation.regions[0], operation.regions[1] if len(operation.regions) > 1 else []
        if not nowhere.any():
            return tuple(self.region(yes, names, []))
        if not here.any():
            return tuple(self.region(no, names, []))
        outside = self.active
        self.active = here
        first = self.region(yes, names, [])
        self.active = nowhere
        second = self.region(no, names, [])
        self.active = outside
        return tuple(self.merge(condition, a, b) for a, b in zip(first, second, strict=True))

    def loop_for(self, operation: Operation, values: list[Any], names: Names) -> Any:
        low, high, step = (value.astype(np.int64) for value in values[:3])
        if (self.lanes(step <= 0)).any():
            raise Undecided("unsupported: a loop whose step is not positive")
        counts = np.maximum(-((low - high) // np.maximum(step, 1)), 0)
        carried = values[3:]
        most, outside = int(self.lanes_of(counts).max(initial=0)), self.active
        for turn in range(most):
            going = turn < counts
            same = not self.lanes(~going).any()
            self.active = outside if same else self.lanes(going)
            counter = (low + turn * step).astype(values[0].dtype)
            after = self.region(operation.regions[0], names, [counter, *carried])
            carried = after if same else [self.merge(going, a, b) for a, b in zip(after, carried, strict=True)]
            self.active = outside
        return tuple(carried)

    def lanes_of(self, values: Array) -> Array:
        """The values of the programs that are here."""
        if self.active is None:
            return values
        return np.asarray(np.broadcast_to(values, self.active.shape)[self.active])

    def loop_while(self, operation: Operation, values: list[Any], names: Names) -> Any:
        """The first region ends with a condition and what it hands over, the second is the body."""
        outside, carried, handed = self.active, values, None
        for _ in range(_MOST_SPINS):
            before = self.active
            last = self.region(operation.regions[0], names, carried)
            condition = np.broadcast_to(last[0].astype(np.bool_), self._everyone().shape)
            handed = (
                last[1:]
                if handed is None
                else [self.merge(self._here(before), a, b) for a, b in zip(last[1:], handed, strict=True)]
            )
            going = self.lanes(condition)
            if not going.any():
                self.active = outside
                return tuple(handed)
            self.active = None if outside is None and going.all() else going
            after = self.region(operation.regions[1], names, list(last[1:]))
            carried = [self.merge(going, a, b) for a, b in zip(after, carried, strict=True)]
        raise Undecided("too long: a loop without an end in sight, or a program that waits for a later one")

    def _here(self, active: Array | None) -> Array:
        return np.ones(1, np.bool_) if active is None else active


Structure = Callable[[Machine, Operation, list[Any], Names], Any]
_STRUCTURES: dict[str, Structure] = {
    "scf.if": Machine.branch_if,
    "scf.for": Machine.loop_for,
    "scf.while": Machine.loop_while,
}
