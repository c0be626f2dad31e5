"""Chooses the tensors that a forward pass saves for its backward pass.

It saves arguments and outputs, which are in memory anyway, results of reductions, which are one number per row, and
results of library calls. All other values are recomputed from these, element by element.
"""

from __future__ import annotations

from collections.abc import Mapping

from warpwright.compose.ir.operations import APART, Op
from warpwright.compose.ir.tensors import Store, Tensor
from warpwright.compose.ir.values import Graph, Value, is_host, walk
from warpwright.compose.ir.wording import called
from warpwright.compose.schedule.groups import Scheduler


class SavedTensors:
    """The inputs of a backward pass, found by walking from the gradients down to the first values worth saving."""

    def __init__(self, graph: Graph, outputs: list[Store], arguments: Mapping[int, Tensor]) -> None:
        self.graph, self.arguments = graph, arguments
        self.outputs = {store.value.number: store.tensor for store in outputs}
        self.known = {value.number for value in walk([store.value for store in outputs])}
        self.scheduler = Scheduler(graph, arguments)
        self.saved: dict[int, Tensor] = {}
        self.fresh: list[tuple[Value, Tensor]] = []
        self._seen: set[int] = set()

    def visit(self, value: Value) -> None:
        if value.number in self._seen or is_host(value):
            return
        self._seen.add(value.number)
        if value.number in self.arguments:
            self.saved[value.number] = self.arguments[value.number]
        elif value.number in self.outputs:
            self.saved[value.number] = self.outputs[value.number]
        elif value.number in self.known and self._is_worth_it(value):
            tensor = Tensor(self._name(value), value.dtype if value.op in APART else "fp32", value.shape)
            self.saved[value.number] = tensor
            self.fresh.append((value, tensor))
        else:
            for arg in value.args:
                self.visit(arg)

    def rounded(self) -> set[int]:
        """Narrow outputs from which other saved tensors are computed: these must use the rounded values to agree."""
        fresh = walk([value for value, _ in self.fresh])
        return {value.number for value in fresh if value.number in self.saved and self._is_coarse(value)}

    def _is_coarse(self, value: Value) -> bool:
        output = self.outputs.get(value.number)
        return output is not None and output.dtype == "T"

    def _is_worth_it(self, value: Value) -> bool:
        if value.op in APART:
            return True
        if value.op in (Op.BROADCAST, Op.RESHAPE, Op.TO_FLOAT):
            return False
        count = self.graph.numel(value)
        return any(space.rows == count for space in self.scheduler.spaces(value))

    def _name(self, value: Value) -> str:
        taken = {tensor.name for tensor in (*self.saved.values(), *self.outputs.values(), *self.arguments.values())}
        wanted = f"saved_{called(self.graph, value)}"
        return wanted if wanted not in taken else f"{wanted}_{len(taken)}"
