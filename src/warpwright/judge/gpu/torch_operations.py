"""Library nodes: torch operations that host code called, executed on the plan's buffers."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import torch

from warpwright.core.dtypes import BY_TORCH_NAME
from warpwright.core.errors import Undecided
from warpwright.core.launch.operations import OPERATIONS
from warpwright.core.launch.plan import Constant, Library, View
from warpwright.judge.gpu.memory import Memory, constant


def execute(node: Library, memory: Memory) -> None:
    """Executes the operation and stores its results in the buffers that the plan names."""
    inputs = [_input(view, memory) for view in node.inputs]
    if node.operation == "cublas.gemm":
        _gemm(inputs, node.options)
        return
    if node.operation == "copy_" and inputs[0] is not None:
        memory.tensor(node.outputs[0]).copy_(inputs[0])
        return
    function = _function(node.operation)
    fixed = all(memory.fixed(view.buffer) for view in node.outputs)
    if fixed and (direct := _writing_form(function, len(node.outputs), _device(inputs))):
        names = [argument.name for argument in direct._schema.arguments if argument.is_out]
        targets = [memory.tensor(view) for view in node.outputs]
        direct(**_arguments(function._schema, inputs, node.options), **dict(zip(names, targets, strict=True)))
        return
    found = function(**_arguments(function._schema, inputs, node.options))
    results = [
        item for item in (found if isinstance(found, tuple | list) else [found]) if isinstance(item, torch.Tensor)
    ]
    for view, result in zip(node.outputs, results, strict=False):
        if not memory.adopt(view, result):
            memory.tensor(view).copy_(result)


def _input(view: View | Constant | None, memory: Memory) -> torch.Tensor | None:
    if isinstance(view, View):
        return memory.tensor(view)
    return None if view is None else constant(view)


def _gemm(inputs: list[Any], options: Mapping[str, Any]) -> None:
    """Computes C = alpha * A @ B + beta * C in place; if beta is zero C may hold anything, NaN included."""
    target, left, right = inputs
    product = torch.matmul(left, right)
    if options["beta"] == 0:
        target.copy_(product.mul_(options["alpha"]))
    else:
        target.mul_(options["beta"]).add_(product, alpha=options["alpha"])


def _function(operation: str) -> Any:
    if operation not in OPERATIONS:
        raise Undecided(f"unsupported: at::{operation}")
    name, _, overload = operation.partition(".")
    try:
        return getattr(getattr(torch.ops.aten, name), overload or "default")
    except AttributeError:
        raise Undecided(f"unsupported: at::{operation} with this torch") from None


def _device(inputs: Sequence[torch.Tensor | None]) -> str:
    kinds = {tensor.device.type for tensor in inputs if tensor is not None}
    return "cpu" if kinds == {"cpu"} else "cuda"


def _writing_form(function: Any, results: int, device: str) -> Any | None:
    """The overload with the same arguments that writes its results to given tensors, if torch has a kernel for it.

    Torch generates an `out` overload for every operation; without a kernel of its own it allocates and copies.
    """
    wanted = [(argument.name, str(argument.type)) for argument in function._schema.arguments]
    packet = function.overloadpacket
    for overload in (getattr(packet, name) for name in packet.overloads()):
        arguments = overload._schema.arguments
        kept = [(argument.name, str(argument.type)) for argument in arguments if not argument.is_out]
        if kept == wanted and len(arguments) == len(kept) + results > len(kept) and _is_native(overload, device):
            return overload
    return None


def _is_native(overload: Any, device: str) -> bool:
    keys = (device.upper(), "CompositeImplicitAutograd")
    return any(torch._C._dispatch_has_kernel_for_dispatch_key(overload.name(), key) for key in keys)


def _arguments(schema: Any, inputs: list[Any], options: Mapping[str, Any]) -> dict[str, Any]:
    """Builds keyword arguments: tensors by their position in the schema, all others by name."""
    given: dict[str, Any] = {}
    kinds = [str(argument.type) for argument in schema.arguments]
    singles = sum("Tensor" in kind and "List" not in kind for kind in kinds)
    for argument, kind in zip(schema.arguments, kinds, strict=True):
        if "Tensor" in kind and "List" in kind:
            given[argument.name] = [inputs.pop(0) for _ in range(len(inputs) - singles)]
        elif "Tensor" in kind:
            singles -= 1
            given[argument.name] = inputs.pop(0) if inputs else None
        elif argument.name in options:
            given[argument.name] = _option(options[argument.name])
    return given


def _option(value: Any) -> Any:
    match value:
        case {"dtype": str(name)}:
            return getattr(torch, BY_TORCH_NAME[name].torch)
        case list() | tuple():
            return [_option(item) for item in value]
    return value
