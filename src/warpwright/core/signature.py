"""What a candidate is called with and must return in one case: concrete shapes, strides and dtypes.

forward    the arguments of the reference function, by position
backward   gradients of the outputs, then saved tensors, then the arguments of forward; or the task's own order
training   both entries; the tensors that `forward` saves are its own choice and follow the gradients in `backward`
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import ClassVar, TypeVar

from warpwright.core.dtypes import DType, dtype_named
from warpwright.core.formula import Number, evaluate_size
from warpwright.core.task import Argument, Case, Compare, Direction, Layout, Output, Plain, Size, Task, TensorArg, sizes


@dataclass(frozen=True, slots=True, kw_only=True)
class TensorSpec:
    KIND: ClassVar[str] = "tensor"
    name: str
    shape: tuple[int, ...]
    stride: tuple[int, ...]
    dtype: str

    @property
    def numel(self) -> int:
        count = 1
        for size in self.shape:
            count *= size
        return count


@dataclass(frozen=True, slots=True, kw_only=True)
class ListSpec:
    KIND: ClassVar[str] = "list"
    name: str
    items: tuple[TensorSpec, ...]


@dataclass(frozen=True, slots=True, kw_only=True)
class ScalarSpec:
    KIND: ClassVar[str] = "scalar"
    name: str
    value: Plain | tuple[Plain, ...]


Spec = TensorSpec | ListSpec | ScalarSpec
T = TypeVar("T")


def entries(task: Task) -> tuple[str, ...]:
    """The functions that a candidate for this task must export."""
    return ("forward", "backward") if task.direction is Direction.TRAINING else (task.direction.value,)


def contiguous(shape: tuple[int, ...]) -> tuple[int, ...]:
    """Row-major strides as torch computes them (a size of zero counts as one)."""
    strides, step = [], 1
    for size in reversed(shape):
        strides.append(step)
        step *= max(size, 1)
    return tuple(reversed(strides))


def forward_arguments(task: Task, case: Case) -> tuple[Spec, ...]:
    """The arguments of the reference function in this case."""
    return tuple(_argument(task, case, argument) for argument in task.arguments)


def arguments(task: Task, case: Case) -> tuple[Spec, ...]:
    """The arguments of the entry named by the task's direction; those of `forward` for a training pair."""
    forward = forward_arguments(task, case)
    if task.direction is not Direction.BACKWARD:
        return forward
    ordered = arranged(task, case, output_gradients(task, case), tensors(case, task.saves), forward)
    return tuple(_grouped(entry) if isinstance(entry, list) else entry for entry in ordered)


def arranged(
    task: Task, case: Case, gradients: Sequence[T], saves: Sequence[T], forward: Sequence[T]
) -> list[T | list[T]]:
    """The arguments of `backward`, specs or values alike, in the order of this task."""
    if not task.backward_takes:
        return [*gradients, *saves, *forward]
    names = [spec.name for spec in (*output_gradients(task, case), *tensors(case, task.saves))]
    names += [argument.name for argument in task.arguments]
    named = dict(zip(names, (*gradients, *saves, *forward), strict=True))
    return [named[key] if isinstance(key, str) else [named[name] for name in key] for key in task.backward_takes]


def results(task: Task, case: Case) -> tuple[TensorSpec, ...]:
    """The tensors that this entry returns, without mutated arguments."""
    if task.direction is Direction.BACKWARD:
        return argument_gradients(task, case)
    return tensors(case, task.outputs)


def elements(task: Task, case: Case) -> int:
    """Of all tensors that go in or come back."""
    given = [tensor for spec in arguments(task, case) for tensor in flatten(spec)]
    return sum(tensor.numel for tensor in (*given, *results(task, case)))


def output_gradients(task: Task, case: Case) -> tuple[TensorSpec, ...]:
    """A gradient for every differentiable output, in the layout of the case."""
    outputs = tensors(case, differentiable_outputs(task, case))
    return tuple(replace(spec, name=f"grad_{spec.name}", stride=_laid_out(spec, case.layout)) for spec in outputs)


def argument_gradients(task: Task, case: Case) -> tuple[TensorSpec, ...]:
    """The tensors that `backward` returns: a gradient for every differentiable tensor argument, in order."""
    specs = [spec for spec in forward_arguments(task, case) if is_differentiable(task, spec)]
    return tuple(replace(item, name=f"grad_{item.name}") for spec in specs for item in flatten(spec))


def flatten(spec: Spec) -> tuple[TensorSpec, ...]:
    """The tensors of an argument: one, several, or none for a scalar."""
    match spec:
        case TensorSpec():
            return (spec,)
        case ListSpec():
            return spec.items
    return ()


def differentiable_outputs(task: Task, case: Case) -> tuple[Output, ...]:
    return tuple(
        output
        for output in task.outputs
        if output.grad and output.compare is Compare.VALUE and _dtype(case, output.dtype).floating
    )


def is_differentiable(task: Task, spec: Spec) -> bool:
    """Whether `backward` must return a gradient for this argument."""
    argument = next(item for item in task.arguments if item.name == spec.name)
    floating = any(dtype_named(item.dtype).floating for item in flatten(spec))
    return isinstance(argument, TensorArg) and argument.grad and floating


def tensors(case: Case, outputs: tuple[Output, ...]) -> tuple[TensorSpec, ...]:
    """Declared outputs or saved tensors with their sizes evaluated."""
    names = sizes(case)
    return tuple(_tensor(case, output.name, output.dtype, output.shape, names) for output in outputs)


def _argument(task: Task, case: Case, argument: Argument) -> Spec:
    if not isinstance(argument, TensorArg):
        return ScalarSpec(name=argument.name, value=case.scalars[argument.name])
    names = sizes(case)
    if argument.count is None:
        return _tensor(case, argument.name, argument.dtype, argument.shape, names)
    count = evaluate_size(argument.count, names)
    items = (
        _tensor(case, f"{argument.name}[{i}]", argument.dtype, argument.shape, {**names, "i": i}) for i in range(count)
    )
    return ListSpec(name=argument.name, items=tuple(items))


def _tensor(case: Case, name: str, dtype: str, shape: tuple[Size, ...], names: dict[str, Number]) -> TensorSpec:
    extents = tuple(evaluate_size(size, names) for size in shape)
    return TensorSpec(name=name, shape=extents, stride=contiguous(extents), dtype=_dtype(case, dtype).name)


def _dtype(case: Case, name: str) -> DType:
    return dtype_named(case.dtype if name == "T" else name)


def _grouped(specs: Sequence[Spec]) -> ListSpec:
    items = tuple(item for spec in specs for item in flatten(spec))
    return ListSpec(name="_".join([*(spec.name for spec in specs), "list"]), items=items)


def _laid_out(spec: TensorSpec, layout: Layout) -> tuple[int, ...]:
    if layout is Layout.EXPANDED:
        return (0,) * len(spec.shape)
    if layout is Layout.TRANSPOSED and len(spec.shape) >= 2:
        swapped = contiguous((*spec.shape[:-2], spec.shape[-1], spec.shape[-2]))
        return (*swapped[:-2], swapped[-1], swapped[-2])
    return spec.stride
