"""The reference function: loaded from its source text, and called in the direction of the task."""

from __future__ import annotations

import sys
import types
import warnings
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager, nullcontext
from functools import cache
from typing import Any

import torch
from torch.utils._python_dispatch import _disable_current_modes

from warpwright.core.codec import content_id
from warpwright.core.dtypes import dtype_named
from warpwright.core.errors import TaskError
from warpwright.core.signature import differentiable_outputs, forward_arguments, is_differentiable
from warpwright.core.task import Case, Direction, Reference, Role, Task
from warpwright.oracle.truth.undrawn import Undrawn

Function = Callable[..., Any]
Tensors = list[torch.Tensor]


def function(reference: Reference, name: str | None = None, *, drawn: bool = True) -> Function:
    """Returns a function of the reference file by name, by default the task's entry.

    The weights of a module that is only traced need not be `drawn`: they are arguments of the task.
    """
    if name is None and reference.style == "module":
        return _module_function(reference, drawn)
    found = getattr(_module(reference.source, reference.filename), name or reference.entry, None)
    if not callable(found):
        raise TaskError(reference.filename, None, f"there is no function '{name or reference.entry}'")
    called: Function = found
    return called


def evaluate(
    task: Task, case: Case, called: Function, arguments: Sequence[Any], gradients: Tensors, saves: Tensors
) -> Tensors:
    """Evaluates all compared tensors with `called`: outputs and mutated arguments, gradients, or both."""
    with _without_size_warnings(case):
        return _evaluated(task, case, called, arguments, gradients, saves)


@contextmanager
def _without_size_warnings(case: Case) -> Iterator[None]:
    """Silences warnings about sizes, except for timed cases, whose sizes the user chose."""
    if case.role is Role.TIME:
        yield
        return
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", UserWarning)
        yield


def _evaluated(
    task: Task, case: Case, called: Function, arguments: Sequence[Any], gradients: Tensors, saves: Tensors
) -> Tensors:
    if task.direction is Direction.FORWARD:
        with torch.no_grad():
            return [*outputs(task, called, arguments), *_mutated(task, arguments)]
    if task.direction is Direction.BACKWARD and task.reference.backward:
        backward = function(task.reference, task.reference.backward)
        with torch.no_grad():
            return tensors_in(backward(*gradients, *saves, *arguments))
    return _differentiate(task, case, called, arguments, gradients)


def outputs(task: Task, called: Function, arguments: Sequence[Any]) -> Tensors:
    """Calls a function and checks that it returns as many tensors as the task declares."""
    found = tensors_in(called(*arguments))
    if len(found) != len(task.outputs):
        declared = ", ".join(output.name for output in task.outputs)
        raise TaskError(task.reference.filename, None, f"returns {len(found)} tensors; the task declares {declared}")
    return found


def saved(task: Task, arguments: Sequence[Any]) -> Tensors:
    """Computes the tensors saved for the backward pass with the reference's `save`."""
    if task.direction is not Direction.BACKWARD or not task.saves:
        return []
    with torch.no_grad():
        return tensors_in(function(task.reference, "save")(*arguments))


def tensors_in(value: Any) -> Tensors:
    """Lists the tensors in a value; everything else is omitted."""
    if isinstance(value, torch.Tensor):
        return [value]
    if isinstance(value, Sequence):
        return [tensor for item in value for tensor in tensors_in(item)]
    return []


def _mutated(task: Task, arguments: Sequence[Any]) -> Tensors:
    named = {argument.name: value for argument, value in zip(task.arguments, arguments, strict=True)}
    return [tensor for name in task.mutates for tensor in tensors_in(named[name])]


def _differentiate(task: Task, case: Case, called: Function, arguments: Sequence[Any], gradients: Tensors) -> Tensors:
    leaves, prepared = differentiable(task, case, arguments)
    with torch.enable_grad():
        found = outputs(task, called, prepared)
    names = {output.name for output in differentiable_outputs(task, case)}
    wanted = [tensor for tensor, output in zip(found, task.outputs, strict=True) if output.name in names]
    flowing = [(tensor, grad) for tensor, grad in zip(wanted, gradients, strict=True) if tensor.requires_grad]
    if not flowing:
        raise TaskError(task.reference.filename, None, "no output depends differentiably on an argument")
    _require_shapes(task, case, found, flowing)
    tensors, arriving = zip(*flowing, strict=True)
    computed = torch.autograd.grad(tensors, leaves, arriving, allow_unused=True)
    found_gradients = [
        torch.zeros_like(leaf) if grad is None else grad for leaf, grad in zip(leaves, computed, strict=True)
    ]
    return (
        found_gradients
        if task.direction is Direction.BACKWARD
        else [*(tensor.detach() for tensor in found), *found_gradients]
    )


def _require_shapes(task: Task, case: Case, found: Tensors, flowing: list[tuple[torch.Tensor, torch.Tensor]]) -> None:
    """Checks that an output has the declared shape; autograd's error would not name it."""
    for tensor, grad in flowing:
        if tensor.shape != grad.shape:
            name = next(output.name for output, item in zip(task.outputs, found, strict=True) if item is tensor)
            problem = f"{name} has shape {tuple(tensor.shape)}; the task declares {tuple(grad.shape)} in {case.name}"
            raise TaskError(task.reference.filename, None, problem)


def differentiable(task: Task, case: Case, arguments: Sequence[Any]) -> tuple[Tensors, list[Any]]:
    """Returns the leaves that need a gradient, and the arguments with these leaves."""
    leaves: Tensors = []
    prepared = [
        _as_leaf(value, leaves) if is_differentiable(task, spec) else value
        for value, spec in zip(arguments, forward_arguments(task, case), strict=True)
    ]
    return leaves, prepared


def _as_leaf(value: Any, leaves: Tensors) -> Any:
    if isinstance(value, list):
        return [_as_leaf(item, leaves) for item in value]
    leaves.append(value.detach().requires_grad_())
    return leaves[-1]


@cache
def _module(source: str, filename: str) -> types.ModuleType:
    """Loads the file as a module and registers it, since dataclasses and pickling look modules up by name.

    Its `print` does nothing, because our stdout may be read by a program. Redirecting stdout during each call would
    affect other threads and the compilation of the function.
    """
    module = types.ModuleType(f"warpwright_reference_{content_id(source)}")
    module.__dict__["print"] = _ignore_output
    sys.modules[module.__name__] = module
    try:
        exec(compile(source, filename, "exec"), module.__dict__)
    except SyntaxError as error:
        raise TaskError(f"{filename}:{error.lineno}", None, f"syntax error: {error.msg}") from None
    except Exception as error:
        raise TaskError(filename, None, f"cannot be imported: {type(error).__name__}: {error}") from None
    return module


def _ignore_output(*values: object, **options: object) -> None:
    """Replaces `print`."""


def constructed(task: Task, name: str) -> torch.Tensor:
    """Returns a module's buffer as its constructor fills it: a mask or a table, which is not drawn."""
    inputs = len(task.arguments) - len(task.reference.state)
    position = [argument.name for argument in task.arguments].index(name) - inputs
    made = _instance(task.reference, torch.float32, torch.device("cpu"))
    held: torch.Tensor = made.state_dict()[task.reference.state[position]]
    return held.clone()


def _module_function(reference: Reference, drawn: bool) -> Function:
    """Wraps a module's forward as a function of its inputs followed by its state."""

    def call(*arguments: Any) -> Any:
        inputs = arguments[: len(arguments) - len(reference.state)]
        state = dict(zip(reference.state, arguments[len(inputs) :], strict=True))
        device = next((tensor.device for tensor in tensors_in(arguments)), torch.device("cpu"))
        made = _instance(reference, torch.get_default_dtype(), device, drawn)
        return torch.func.functional_call(made, state, inputs)

    return call


_instances: dict[tuple[str, torch.dtype, torch.device, bool], torch.nn.Module] = {}


def _instance(reference: Reference, dtype: torch.dtype, device: torch.device, drawn: bool = True) -> torch.nn.Module:
    """Returns one module for each precision, so that constants that are not state have the precision of the inputs."""
    key = (content_id(reference), dtype, device, drawn)
    if key not in _instances:
        with _disable_current_modes(), nullcontext() if drawn else Undrawn():
            made = _constructed(reference)
            _instances[key] = made.to(device=device, dtype=dtype if dtype is torch.float64 else _own_dtype(reference))
    return _instances[key]


def _own_dtype(reference: Reference) -> torch.dtype | None:
    return None if reference.dtype is None else getattr(torch, dtype_named(reference.dtype).torch)


def _constructed(reference: Reference) -> torch.nn.Module:
    """Constructs the module in fp32 from a fixed seed, so that every call gives the same module."""
    kind = function(reference, reference.entry)
    before = torch.get_default_dtype()
    with torch.random.fork_rng(devices=[]):
        torch.set_default_dtype(torch.float32)
        torch.manual_seed(0)
        try:
            made: torch.nn.Module = kind(*map(_unfrozen, reference.init), **reference.init_named)
        finally:
            torch.set_default_dtype(before)
    return made


def _unfrozen(value: Any) -> Any:
    return list(value) if isinstance(value, tuple) else value
