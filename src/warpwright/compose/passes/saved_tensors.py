"""Training pairs: a forward pass that leaves what its backward pass would be sorry to compute again.

Worth leaving are the arguments and outputs, which are in memory anyway, numbers of which each row has one, and what a
library call gave. Everything else is computed again from these, element by element.
"""

from __future__ import annotations

from collections.abc import Mapping

from warpwright.compose.cuda.host import Entry
from warpwright.compose.cuda.kernel import Store
from warpwright.compose.cuda.tensors import Tensor
from warpwright.compose.cuda.wording import called
from warpwright.compose.frontend import entries
from warpwright.compose.ir.operations import APART, Op
from warpwright.compose.ir.values import Graph, Value, is_host, walk
from warpwright.compose.schedule.groups import Scheduler
from warpwright.core.signature import output_gradients
from warpwright.core.task import Task
from warpwright.tasks.skeleton import TENSOR


def training_entries(task: Task, graph: Graph) -> list[Entry]:
    outputs, tensors = entries.forward_stores(task, graph)
    arguments = entries.inputs_of(graph)
    gradients = entries.backward_stores(task, graph)
    arriving = {number: tensor for number, tensor in entries.inputs_of(graph).items() if number not in arguments}
    kept = _Kept(graph, outputs, arguments)
    for store in gradients:
        kept.visit(store.value)
    graph.rounded |= kept.rounded()
    saved = tuple(kept.saved.values())
    made = [Store(value=value, tensor=tensor) for value, tensor in kept.fresh]
    forward = entries.entry(task, graph, "forward", arguments, [*outputs, *made], (*tensors, *saved))
    names = tuple(spec.name for spec in output_gradients(task, task.cases[0]))
    listed = (*names, *(tensor.name for tensor in saved))
    ordered = tuple((TENSOR, name) for name in listed)
    inputs = {**arriving, **kept.saved}
    returned = tuple(store.tensor for store in gradients)
    backward = entries.scheduled(
        graph, "backward", ordered, inputs, _places(inputs.values()), gradients, returned, names
    )
    return [forward, backward]


class _Kept:
    """What the backward pass is given, found by walking down from the gradients to the first thing worth keeping."""

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
        """Outputs in few bits that others of what is saved come from: unrounded there, the two would not agree."""
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


def _places(tensors: object) -> dict[str, str]:
    found: dict[str, str] = {}
    for tensor in tensors:  # type: ignore[attr-defined]
        for position, size in enumerate(tensor.shape):
            if size.text.isidentifier():
                found.setdefault(size.text, f"{tensor.name}.size({position})")
    return found
