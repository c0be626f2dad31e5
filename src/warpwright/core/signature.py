"""Arguments, outputs and gradients of a task in one case: concrete shapes, strides and dtypes."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import ClassVar

from warpwright.core.dtypes import DType, dtype_named
from warpwright.core.formula import Number, evaluate_size
from warpwright.core.task import Argument, Case, Compare, Layout, Output, Plain, Size, Task, TensorArg, sizes


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


def _laid_out(spec: TensorSpec, layout: Layout) -> tuple[int, ...]:
    if layout is Layout.EXPANDED:
        return (0,) * len(spec.shape)
    if layout is Layout.TRANSPOSED and len(spec.shape) >= 2:
        swapped = contiguous((*spec.shape[:-2], spec.shape[-1], spec.shape[-2]))
        return (*swapped[:-2], swapped[-1], swapped[-2])
    return spec.stride
