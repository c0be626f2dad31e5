"""Carries out a record on the CPU, launch by launch."""

from __future__ import annotations

import random
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from functools import lru_cache
from math import prod
from typing import TYPE_CHECKING

from warpwright.core.launch.plan import Fill, Library, View
from warpwright.core.signature import flatten
from warpwright.emulate.program.calls import EmulatedCall, Order
from warpwright.emulate.report import Reported
from warpwright.languages.python.record import Allocate, CompiledKernel, ExtensionCall, KernelLaunch, Record, Step, Word
from warpwright.languages.python.tiles.memory import Librarian, Memory, bytes_of
from warpwright.languages.python.tiles.reporting import reported, unwritten_results
from warpwright.seal.refusal import refuted, undecided

if TYPE_CHECKING:
    from warpwright.ttir.syntax.tree import Module


@lru_cache(maxsize=256)
def module_of(text: str) -> Module:
    from warpwright.ttir.syntax.parsing import parse

    return parse(text)


@dataclass(slots=True)
class Carried:
    """One call that is carried out: memory, and what is wrong with it."""

    call: EmulatedCall
    record: Record
    kernels: Mapping[str, CompiledKernel]
    library: Librarian | None
    memory: Memory = field(init=False)
    found: list[Reported] = field(default_factory=list)
    launches: list[tuple[KernelLaunch, Module]] = field(default_factory=list)

    def __post_init__(self) -> None:
        self.memory = Memory(self.library)
        tensors = [tensor for spec in self.call.arguments for tensor in flatten(spec)]
        for number, (tensor, content) in enumerate(zip(tensors, self.call.contents, strict=True)):
            self.memory.give(number, tensor, content)

    def out(self) -> Carried:
        """Carries out every step."""
        returned = [view for view in self.record.returns if isinstance(view, View)]
        results = {view.buffer for view in returned}
        for step in self.record.steps:
            self._step(step, results)
        for view in returned:
            self.found += unwritten_results(self.memory.of(view), view, bytes_of(view.dtype))
        return self

    def contents(self) -> dict[int, bytes]:
        """The bytes of all arguments and results."""
        returned = {view.buffer for view in self.record.returns if isinstance(view, View)}
        return {number: self.memory.content(number) for number in {*range(len(self.call.contents)), *returned}}

    def _step(self, step: Step, results: set[int]) -> None:
        match step:
            case Allocate():
                self.memory.allocate(step, "the result" if step.buffer in results else f"scratch {step.buffer}")
            case Fill():
                self.memory.fill(step)
            case Library():
                self.memory.operate(step)
            case KernelLaunch():
                self._launch(step)
            case ExtensionCall():
                raise undecided("unsupported: C++ extensions beside kernels that Python code compiled")

    def _launch(self, step: KernelLaunch) -> None:
        from warpwright.ttir.memory.allocations import Memory as Addresses
        from warpwright.ttir.running import Launch, run

        if step.kernel not in self.kernels:
            raise refuted("trace", "the record launches a kernel that it does not have")
        kernel = self.kernels[step.kernel]
        module = module_of(kernel.text)
        grid = (step.grid[0] // step.cluster[0], step.grid[1], step.grid[2])
        arguments = list(self._arguments(step, module))
        launch = Launch(module=module, grid=grid, arguments=arguments, programs=self._programs(prod(grid)))
        found = run(launch, Addresses(self.memory.buffers.values()))
        self.found += reported(found, kernel.name, len(self.launches))
        self.launches.append((step, module))

    def _arguments(self, step: KernelLaunch, module: Module) -> Iterator[int | float]:
        """What the kernel's code takes; two scratch pointers follow, which only compiled code has."""
        from warpwright.ttir.plain import argument, parameters

        kinds = parameters(module)
        if len(kinds) + 2 != len(step.arguments):
            raise undecided(
                f"unsupported: {step.kernel} takes {len(kinds)} values, {len(step.arguments) - 2} are given"
            )
        for kind, item in zip(kinds, step.arguments, strict=False):
            yield argument(kind, item.data) if isinstance(item, Word) else self.memory.address(item)

    def _programs(self, count: int) -> Sequence[int] | None:
        if self.call.order is Order.FORWARD:
            return None
        numbers = list(range(count))
        if self.call.order is Order.REVERSE:
            return numbers[::-1]
        random.Random(self.call.seed).shuffle(numbers)
        return numbers
