"""The entry points of a source: traced, lowered, rewritten and scheduled."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Mapping
from dataclasses import replace
from functools import partial
from typing import Any

from warpwright.compose.errors import CannotCompose
from warpwright.compose.frontend import trace
from warpwright.compose.frontend.lowering.lower import lowered
from warpwright.compose.ir.naming import safe_name
from warpwright.compose.ir.operations import Argument, Op
from warpwright.compose.ir.sizes import Size
from warpwright.compose.ir.tensors import Store, Tensor
from warpwright.compose.ir.values import Graph, Value, walk
from warpwright.compose.passes.long_sums import rewritten
from warpwright.compose.passes.saved_tensors import SavedTensors
from warpwright.compose.schedule.entry import Entry
from warpwright.compose.schedule.groups import Schedule, Scheduler, base_of
from warpwright.core.calls import arguments
from warpwright.core.dtypes import dtype_named
from warpwright.core.signature import differentiable_outputs, output_gradients
from warpwright.core.task import ScalarArg, Task, TensorArg
from warpwright.languages.cuda.skeleton import TENSOR, parameters

IN_STORED_ORDER = (Op.SCAN, Op.TOPK, Op.POOL, Op.SCATTER, Op.LISTS, Op.COLUMNS)
"""Operations with a separate step, whose results are stored in one order, whatever their shape."""


def forward_entry(task: Task, graph: Graph) -> Entry:
    outputs, tensors = forward_stores(task, graph)
    return entry(task, graph, "forward", inputs_of(graph), outputs, tensors)


def forward_stores(task: Task, graph: Graph) -> tuple[list[Store], tuple[Tensor, ...]]:
    """The stores of a forward pass, and the returned tensors."""
    results, changed = lowered(partial(trace.trace_forward, task), graph, trace.hint_cases(task))
    named = {tensor.name: tensor for tensor in inputs_of(graph).values()}
    taken = named.keys() | {argument.name for argument in task.arguments}
    tensors = [
        Tensor(_fresh(output.name, taken), output.dtype, _known(graph, task, output.shape, value))
        for output, value in zip(task.outputs, results, strict=True)
    ]
    outputs = [Store(value=value, tensor=tensor) for value, tensor in zip(results, tensors, strict=True)]
    if wrong := [
        store.tensor.name for store in outputs if store.value.shape and store.value.shape != store.tensor.shape
    ]:
        raise CannotCompose(f"{wrong[0]}, whose shape depends on more than the sizes")
    # Updated module state is a result only if the task declares it as mutated.
    outputs += [_change(value, named[safe_name(name)]) for name, value in changed.items() if name in task.mutates]
    return outputs, tuple(tensors)


def _known(graph: Graph, task: Task, declared: tuple[Any, ...], value: Value) -> tuple[Size, ...]:
    """The shape of a result as the task declares it, unless it has names for sizes that no argument shows."""
    shape = shape_of(graph, declared)
    if value.shape != shape:
        return shape
    shown = places_of(task)
    return tuple(own if own.names <= shown.keys() else found for own, found in zip(shape, value.shape, strict=True))


def _change(value: Value, tensor: Tensor) -> Store:
    """The store that overwrites an argument, completely or at some positions."""
    if value.op is Op.PUT:
        return Store(value=value.first, tensor=tensor, at=value.args[1:])
    return Store(value=value, tensor=tensor)


def backward_entry(task: Task, graph: Graph) -> Entry:
    outputs = backward_stores(task, graph)
    inputs = inputs_of(graph)
    if task.saves and not task.reference.backward:
        inputs |= _saved(task, graph)
    return entry(task, graph, "backward", inputs, outputs, tuple(store.tensor for store in outputs))


def backward_stores(task: Task, graph: Graph) -> list[Store]:
    """The stores of the required gradients."""
    results, _ = lowered(partial(trace.trace_backward, task), graph, trace.hint_cases(task))
    taken = {tensor.name for tensor in inputs_of(graph).values()} | {argument.name for argument in task.arguments}
    owed = [argument for argument in task.arguments if isinstance(argument, TensorArg) and _is_owed(task, argument)]
    return [
        Store(value=value, tensor=Tensor(_fresh(f"grad_{arg.name}", taken), arg.dtype, shape_of(graph, arg.shape)))
        for value, arg in zip(results, owed, strict=True)
    ]


def _is_owed(task: Task, argument: TensorArg) -> bool:
    return argument.grad and dtype_named(task.dtypes[0] if argument.dtype == "T" else argument.dtype).floating


def _saved(task: Task, graph: Graph) -> dict[int, Tensor]:
    """Values of the graph that the forward pass has saved."""
    results, _ = lowered(partial(trace.trace_saved, task), graph, trace.hint_cases(task))
    found = {}
    for value, save in zip(results, task.saves, strict=True):
        tensor = Tensor(safe_name(save.name), save.dtype, shape_of(graph, save.shape))
        found[value.number] = tensor
        graph.names.setdefault(value.number, tensor.name)
        if value.op is Op.RESHAPE:
            found[value.first.number] = tensor
    return found


def training_entries(task: Task, graph: Graph) -> list[Entry]:
    """A forward pass that saves tensors, and the backward pass that takes them."""
    outputs, tensors = forward_stores(task, graph)
    arguments = inputs_of(graph)
    gradients = backward_stores(task, graph)
    arriving = {number: tensor for number, tensor in inputs_of(graph).items() if number not in arguments}
    kept = SavedTensors(graph, outputs, arguments)
    for store in gradients:
        kept.visit(store.value)
    graph.rounded |= kept.rounded()
    saved = tuple(kept.saved.values())
    made = [Store(value=value, tensor=tensor) for value, tensor in kept.fresh]
    forward = entry(task, graph, "forward", arguments, [*outputs, *made], (*tensors, *saved))
    names = tuple(spec.name for spec in output_gradients(task, task.cases[0]))
    listed = (*names, *(tensor.name for tensor in saved))
    ordered = tuple((TENSOR, name) for name in listed)
    inputs = {**arriving, **kept.saved}
    returned = tuple(store.tensor for store in gradients)
    backward = scheduled(graph, "backward", ordered, inputs, _shown_by(inputs.values()), gradients, returned, names)
    return [forward, backward]


def entry(
    task: Task, graph: Graph, name: str, inputs: dict[int, Tensor], outputs: list[Store], returned: tuple[Tensor, ...]
) -> Entry:
    """An entry with the signature of the task."""
    listed = tuple((item.type, safe_name(item.name)) for item in parameters(task, name))
    gradients = tuple(spec.name for spec in output_gradients(task, task.cases[0])) if name == "backward" else ()
    return scheduled(graph, name, listed, inputs, places_of(task), outputs, returned, gradients)


def scheduled(
    graph: Graph,
    name: str,
    listed: tuple[tuple[str, str], ...],
    inputs: dict[int, Tensor],
    places: Mapping[str, str],
    outputs: list[Store],
    returned: tuple[Tensor, ...],
    contiguous: tuple[str, ...],
) -> Entry:
    outputs, returned = _shared(outputs, returned)
    outputs = rewritten(graph, inputs, [_flat(store) for store in outputs])
    views = {store.tensor.name: store.value for store in outputs if _is_view(store.value)}
    owed = [store for store in outputs if store.tensor.name not in views]
    taken = frozenset({given for _, given in listed} | {store.tensor.name for store in outputs} | places.keys())
    schedule = Scheduler(graph, inputs, taken).run(owed, [base_of(value) for value in views.values()])
    _check_overwritten(schedule, inputs, outputs)
    return Entry(
        name=name,
        graph=graph,
        parameters=listed,
        inputs=inputs,
        places=places,
        outputs=tuple(outputs),
        returned=returned,
        views=views,
        contiguous=contiguous,
        schedule=schedule,
    )


def _shared(outputs: list[Store], returned: tuple[Tensor, ...]) -> tuple[list[Store], tuple[Tensor, ...]]:
    """Stores a result once that is returned twice, as autograd gives all terms of a sum the same gradient."""
    first: dict[tuple[Any, ...], Tensor] = {}
    stands_for: dict[Tensor, Tensor] = {}
    for store in outputs:
        if store.tensor in returned and not store.at:
            key = store.value.number, store.tensor.dtype, store.tensor.shape
            stands_for[store.tensor] = first.setdefault(key, store.tensor)
    kept = [store for store in outputs if stands_for.get(store.tensor, store.tensor) == store.tensor]
    return kept, tuple(stands_for.get(tensor, tensor) for tensor in returned)


def _check_overwritten(schedule: Schedule, inputs: Mapping[int, Tensor], outputs: list[Store]) -> None:
    """Checks that an overwritten argument is read only by the kernel that overwrites it."""
    names = {tensor.name for tensor in inputs.values()}
    changed = {store.tensor.name: store for store in outputs if store.tensor.name in names}
    read = {
        safe_name(value.attr(Argument).name)
        for store in outputs
        for value in walk([store.value, *store.at])
        if value.op is Op.INPUT
    }
    if any(store.at and name in read for name, store in changed.items()):
        raise CannotCompose("an argument that is read and partly overwritten")
    if any(not store.at and name in read for name, store in changed.items()) and len(schedule.groups) > 1:
        raise CannotCompose("an argument that is overwritten before it is read again")


def _is_view(value: Value) -> bool:
    """Whether the value is a view of a library call's result."""
    return value.op is Op.RESHAPE and base_of(value).op is Op.LIBRARY and value.first.op is not Op.PERMUTE


def _flat(store: Store) -> Store:
    """Drops reshapes of a store whose value has a separate step: the elements keep their order."""
    value = store.value
    own = value.op is Op.RESHAPE and value.first.op in IN_STORED_ORDER
    return replace(store, value=value.first) if own and not store.at else store


def inputs_of(graph: Graph) -> dict[int, Tensor]:
    """The input tensors of the traced functions, by value."""
    return {value.number: _given(value, value.attr(Argument)) for value in graph.made(Op.INPUT)}


def _given(value: Value, argument: Argument) -> Tensor:
    return Tensor(safe_name(argument.name), value.dtype, value.shape, argument.listed)


def _fresh(name: str, taken: Collection[str]) -> str:
    return f"new_{name}" if name in taken else safe_name(name)


def shape_of(graph: Graph, shape: tuple[Any, ...]) -> tuple[Size, ...]:
    return tuple(graph.cases.size(size) for size in shape)


def places_of(task: Task) -> dict[str, str]:
    """The expression with which the entry reads each size: from a tensor, or a parameter."""
    declared: dict[str, tuple[Any, ...]] = {item.name: item.shape for item in (*task.outputs, *task.saves)}
    declared |= {arg.name: arg.shape for arg in task.arguments if isinstance(arg, TensorArg) and arg.count is None}
    declared |= {f"grad_{output.name}": output.shape for output in differentiable_outputs(task, task.cases[0])}
    numbers = {arg.name for arg in task.arguments if isinstance(arg, ScalarArg)}
    found: dict[str, str] = {}
    for spec in arguments(task, task.cases[0]):
        if spec.name in numbers:
            found[spec.name] = safe_name(spec.name)
        for position, size in enumerate(declared.get(spec.name, ())):
            if isinstance(size, str) and size.isidentifier():
                found.setdefault(size, f"{safe_name(spec.name)}.size({position})")
    return found


def _shown_by(tensors: Iterable[Tensor]) -> dict[str, str]:
    """The expression that reads each size from these tensors."""
    found: dict[str, str] = {}
    for tensor in tensors:
        for position, size in enumerate(tensor.shape):
            if size.text.isidentifier():
                found.setdefault(size.text, f"{tensor.name}.size({position})")
    return found
