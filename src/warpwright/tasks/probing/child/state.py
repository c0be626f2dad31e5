"""Parameters and buffers of a module, with the recipe that fills each."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import replace
from typing import TYPE_CHECKING

from warpwright.tasks.probing.child.recording import Origin
from warpwright.tasks.probing.child.values import seen_tensor
from warpwright.tasks.probing.seen import Seen, TensorSeen

if TYPE_CHECKING:
    import torch

CONSTRUCTED = "constructed"
_BUFFERS = {"running_mean": "bias", "running_var": "variance"}


def state_of(module: torch.nn.Module, inputs: Sequence[Seen]) -> dict[str, TensorSeen]:
    """Describes state in the order of state_dict, tied weights once, under names that are valid in C++."""
    parameters = {id(parameter) for parameter in module.parameters()}
    names, held = {seen.name for seen in inputs}, set[int]()
    shapes = [seen.shape for seen in inputs if isinstance(seen, TensorSeen)]
    found: dict[str, TensorSeen] = {}
    for name, tensor in module.state_dict(keep_vars=True).items():
        if id(tensor) not in held:
            plain = unused(name.replace(".", "_"), names)
            learnt = id(tensor) in parameters
            init = parameter_init(name, tensor.shape, shapes) if learnt else buffer_init(name)
            seen = seen_tensor(plain, tensor.detach(), Origin())
            found[name] = replace(seen, init=init, grad=seen.grad and learnt)
            names.add(plain)
            held.add(id(tensor))
    return found


def unused(name: str, taken: set[str]) -> str:
    while name in taken:
        name += "_"
    return name


def parameter_init(name: str, shape: Sequence[int], inputs: Iterable[Sequence[int]]) -> str:
    """Chooses a recipe by name and shape: a tensor along the last dimensions of an input scales it. Each recipe makes
    the parameter matter.
    """
    last = name.rpartition(".")[2].lower()
    if "bias" in last or last in ("b", "beta"):
        return "bias"
    along = any(tuple(shape) == tuple(sizes)[-len(shape) :] for sizes in inputs if len(sizes) > len(shape))
    return "gain" if len(shape) <= 1 or along else "weight"


def buffer_init(name: str) -> str:
    """Running statistics are drawn; any other buffer keeps the value of the constructor (a mask, a table)."""
    return _BUFFERS.get(name.rpartition(".")[2], CONSTRUCTED)
