"""The state of a candidate's module: which argument of the task each of its tensors is.

The reference and the candidate are constructed from the same seed. A tensor of the candidate is the tensor of the
reference that the same random numbers and operations made; where several are equal, the one with its name.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import torch
from torch import nn

from warpwright.languages.python.inside.recorder import Recorder
from warpwright.languages.python.inside.tensors import Recording


@dataclass(frozen=True, slots=True)
class Origin:
    """What a tensor of a module is made of, and its form."""

    made_of: str
    shape: tuple[int, ...]
    dtype: torch.dtype


def state_of(module: nn.Module, recording: Recording) -> dict[str, Origin]:
    """The parameters and buffers of a module by name."""
    return {name: _origin(tensor, recording) for name, tensor in _named(module)}


def matched(
    module: nn.Module, names: Sequence[str], reference: Mapping[str, Origin], recording: Recording
) -> dict[str, str]:
    """The name of the reference's tensor for each tensor of the candidate that is one of its tensors."""
    own = state_of(module, recording)
    found = {name: name for name, origin in own.items() if reference.get(name) == origin and name in names}
    for name, origin in own.items():
        left = [other for other in names if other not in found.values()]
        same = next((other for other in left if reference[other] == origin), None)
        if name not in found and same is not None:
            found[name] = same
    for name, origin in own.items():
        free = name in names and name not in found and name not in found.values()
        if free and reference[name].shape == origin.shape and reference[name].dtype == origin.dtype:
            found[name] = name
    return found


def bind(
    module: nn.Module,
    found: Mapping[str, str],
    given: Mapping[str, torch.Tensor],
    positions: Mapping[str, int],
    recorder: Recorder,
) -> None:
    """Puts the arguments of the task in the place of the module's tensors, and moves all others to the device."""
    for name, tensor in _named(module):
        owner, _, last = name.rpartition(".")
        holder = module.get_submodule(owner)
        is_parameter = last in holder._parameters
        if name in found:
            value = given[found[name]]
            recorder.held(value, positions[found[name]], private=not is_parameter)
            # What the constructor made of the tensor is made of the argument.
            recorder.held(tensor, positions[found[name]], private=False)
        else:
            value = tensor.detach().to("cuda")
        if is_parameter:
            holder._parameters[last] = nn.Parameter(value, requires_grad=False)
        else:
            holder._buffers[last] = value


def _named(module: nn.Module) -> list[tuple[str, torch.Tensor]]:
    named: list[tuple[str, torch.Tensor]] = [*module.named_parameters(remove_duplicate=False)]
    return [*named, *module.named_buffers(remove_duplicate=False)]


def _origin(tensor: torch.Tensor, recording: Recording) -> Origin:
    return Origin(recording.made_of(tensor), tuple(tensor.shape), tensor.dtype)


def converted(self: nn.Module, function: Any, recurse: bool = True) -> nn.Module:
    """nn.Module._apply for tensors that cannot be exchanged in place."""
    for child in self.children() if recurse else ():
        converted(child, function)
    for name, parameter in self._parameters.items():
        if parameter is not None:
            self._parameters[name] = nn.Parameter(function(parameter.detach()), parameter.requires_grad)
    for name, buffer in self._buffers.items():
        if buffer is not None:
            self._buffers[name] = function(buffer)
    return self
