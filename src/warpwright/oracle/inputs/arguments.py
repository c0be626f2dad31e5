"""The arguments of one draw: values from the generator in the layout of the signature."""

from __future__ import annotations

from functools import partial
from typing import Any

import torch

from warpwright.core.dtypes import dtype_named
from warpwright.core.errors import UsageError
from warpwright.core.formula import evaluate_size
from warpwright.core.signature import ListSpec, Spec, TensorSpec, forward_arguments, output_gradients
from warpwright.core.task import Direction, Draw, Task, TensorArg, sizes
from warpwright.oracle.inputs.distributions import DISTRIBUTIONS, INITS, Recipe, Source, drawn, integers, signed_bytes
from warpwright.oracle.truth.reference import constructed

Value = Any
"""A tensor, a list of tensors, or a plain scalar."""


def forward_inputs(task: Task, draw: Draw, device: torch.device | str = "cpu") -> list[Value]:
    """Returns the arguments of the forward function."""
    specs = forward_arguments(task, draw.case)
    return [_value(task, draw, argument, spec, device) for argument, spec in zip(task.arguments, specs, strict=True)]


def gradient_inputs(task: Task, draw: Draw, device: torch.device | str = "cpu") -> list[torch.Tensor]:
    """Returns the incoming gradients, if any. They have no special values: the inputs have these already."""
    if task.direction is Direction.FORWARD:
        return []
    return [_gradient(draw, spec, device) for spec in output_gradients(task, draw.case)]


def torch_dtype(name: str) -> torch.dtype:
    found: torch.dtype = getattr(torch, dtype_named(name).torch)
    return found


def _value(task: Task, draw: Draw, argument: Any, spec: Spec, device: torch.device | str) -> Value:
    if not isinstance(argument, TensorArg):
        return list(value) if isinstance(value := draw.case.scalars[argument.name], tuple) else value
    if argument.init == "constructed":
        return constructed(task, argument.name).to(device)
    if isinstance(spec, ListSpec):
        return [_tensor(draw, argument, item, device) for item in spec.items]
    assert isinstance(spec, TensorSpec)
    return _tensor(draw, argument, spec, device)


def _tensor(draw: Draw, argument: TensorArg, spec: TensorSpec, device: torch.device | str) -> torch.Tensor:
    source = Source(seed=draw.seed, name=spec.name, shape=spec.shape, dtype=dtype_named(spec.dtype), device=device)
    dtype = torch_dtype(spec.dtype)
    if source.dtype.floating and argument.init is not None:
        return _parameter(draw, argument, source).to(dtype).reshape(spec.shape)
    recipe = _floats(draw) if source.dtype.floating else partial(_integers, draw, argument)
    return drawn(recipe, source, dtype).reshape(spec.shape)


def _parameter(draw: Draw, argument: TensorArg, source: Source) -> torch.Tensor:
    if argument.init not in INITS:
        raise UsageError(f"unknown init '{argument.init}' of {argument.name}; one of {', '.join(INITS)}")
    return INITS[argument.init][draw.seed % 2](source)


def _floats(draw: Draw) -> Recipe:
    if draw.distribution not in DISTRIBUTIONS:
        raise UsageError(f"unknown distribution '{draw.distribution}'; one of {', '.join(DISTRIBUTIONS)}")
    return DISTRIBUTIONS[draw.distribution]


def _integers(draw: Draw, argument: TensorArg, source: Source) -> torch.Tensor:
    if argument.below is not None:
        names = sizes(draw.case)
        low = evaluate_size(argument.low, names)
        return low + integers(source, evaluate_size(argument.below, names) - low, draw.distribution)
    return signed_bytes(source) if source.dtype.name == "int8" else integers(source, 2, draw.distribution)


def _gradient(draw: Draw, spec: TensorSpec, device: torch.device | str) -> torch.Tensor:
    """Fills only the elements that exist in memory, so that an expanded gradient is one value."""
    held = tuple(size if stride else 1 for size, stride in zip(spec.shape, spec.stride, strict=True))
    source = Source(seed=draw.seed, name=spec.name, shape=held, dtype=dtype_named(spec.dtype), device=device)
    values = drawn(DISTRIBUTIONS["normal"], source, torch_dtype(spec.dtype)).reshape(held)
    if 0 in spec.stride:
        return values.expand(spec.shape)
    return torch.empty_strided(spec.shape, spec.stride, dtype=values.dtype, device=device).copy_(values)
