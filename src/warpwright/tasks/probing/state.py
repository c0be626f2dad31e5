"""Parameters and buffers of a module, and which recipe each is filled by."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from typing import TYPE_CHECKING

from warpwright.tasks.probing.recording import Origin
from warpwright.tasks.probing.values import seen_tensor
from warpwright.tasks.seen import TensorSeen

if TYPE_CHECKING:
    import torch

CONSTRUCTED = "constructed"
_BUFFERS = {"running_mean": "bias", "running_var": "variance"}


def state_of(module: torch.nn.Module, taken: Sequence[str]) -> dict[str, TensorSeen]:
    """In the order of state_dict, by its names; tied weights once. Each is described under a name C++ can have."""
    parameters = {id(parameter) for parameter in module.parameters()}
    names, held = set(taken), set[int]()
    found: dict[str, TensorSeen] = {}
    for name, tensor in module.state_dict(keep_vars=True).items():
        if id(tensor) not in held:
            plain = unused(name.replace(".", "_"), names)
            init = parameter_init(name, tensor.dim()) if id(tensor) in parameters else buffer_init(name)
            found[name] = replace(seen_tensor(plain, tensor.detach(), Origin()), init=init)
            names.add(plain)
            held.add(id(tensor))
    return found


def unused(name: str, taken: set[str]) -> str:
    while name in taken:
        name += "_"
    return name


def parameter_init(name: str, dims: int) -> str:
    """By its name, and by its shape where the name says nothing. Any of them makes the parameter matter."""
    last = name.rpartition(".")[2].lower()
    if "bias" in last or last in ("b", "beta"):
        return "bias"
    return "gain" if dims <= 1 else "weight"


def buffer_init(name: str) -> str:
    """Running statistics may be anything of their kind; any other buffer means something (a mask, a table)."""
    return _BUFFERS.get(name.rpartition(".")[2], CONSTRUCTED)
