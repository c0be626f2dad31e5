"""The arguments that a robust-kbench Model passes to fn: the arguments of a candidate, in order."""

from __future__ import annotations

import inspect
import types
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

from warpwright.core.errors import UsageError
from warpwright.tasks.probing.child.binding import parameter_names
from warpwright.tasks.probing.child.observing import per_argument_draws, tensors_in
from warpwright.tasks.probing.child.recording import Origin, Origins, recording
from warpwright.tasks.probing.child.state import CONSTRUCTED, buffer_init, parameter_init
from warpwright.tasks.probing.child.values import seen_argument
from warpwright.tasks.probing.seen import Seen, Setting, TensorSeen


def arguments_of_fn(module: types.ModuleType, setting: Setting, device: str) -> tuple[Seen, ...]:
    """Records the arguments of the first call of fn by Model."""
    calls: list[tuple[Any, ...]] = []

    def fn(*arguments: Any, **named: Any) -> Any:
        calls.append(_positional(module.forward_fn, arguments, named))
        return module.forward_fn(*arguments, **named)

    with recording(device) as origins:
        model = module.Model(**setting.init)
        inputs = module.get_inputs(**setting.inputs)
        model(*inputs, fn=fn)
    if not calls:
        raise UsageError("Model.forward never calls fn, so there is nothing to put a kernel in the place of")
    names = parameter_names(module.forward_fn, len(calls[0]), others=getattr(module, "input_names", ()))
    held = _Held(model=model, origins=origins, shapes=[value.shape for value in tensors_in(inputs)])
    described = (held.described(name, value) for name, value in zip(names, calls[0], strict=True))
    return per_argument_draws(tuple(described))


def fitting(module: types.ModuleType, setting: Setting) -> tuple[Setting, list[str]]:
    """Returns a configuration without unknown keys, and a note on each of those."""
    init, unfit = _accepted(module.Model.__init__, setting.init, "Model")
    inputs, more = _accepted(module.get_inputs, setting.inputs, "get_inputs")
    return Setting(init=init, inputs=inputs), unfit + more


def _accepted(function: Any, given: Mapping[str, Any], name: str) -> tuple[dict[str, Any], list[str]]:
    parameters = inspect.signature(function).parameters
    if any(parameter.kind is parameter.VAR_KEYWORD for parameter in parameters.values()):
        return dict(given), []
    unfit = sorted(given.keys() - parameters.keys())
    notes = [f"{name} takes no '{key}', so that key of the configuration is left out" for key in unfit]
    return {key: value for key, value in given.items() if key in parameters}, notes


def _positional(function: Any, arguments: tuple[Any, ...], named: dict[str, Any]) -> tuple[Any, ...]:
    """Converts keyword arguments to positional ones, which is all that a kernel takes."""
    if not named:
        return arguments
    bound = inspect.signature(function).bind(*arguments, **named)
    bound.apply_defaults()
    if bound.kwargs:
        raise UsageError(f"Model passes '{next(iter(bound.kwargs))}' to fn by keyword only, which a kernel cannot take")
    return bound.args


@dataclass(frozen=True, slots=True, kw_only=True)
class _Held:
    """A model and its inputs, by which the values that it passes on are recognised."""

    model: Any
    origins: Origins
    shapes: Sequence[Sequence[int]]

    def described(self, name: str, value: Any) -> Seen:
        seen = seen_argument(name, value, self.origins.of)
        if not isinstance(seen, TensorSeen) or seen.count is not None:
            return seen
        parameters = {id(tensor) for tensor in self.model.parameters()}
        buffers = {id(tensor): key for key, tensor in self.model.named_buffers()}
        if id(value) in buffers and buffer_init(buffers[id(value)]) != CONSTRUCTED:
            return replace(seen, init=buffer_init(buffers[id(value)]), draw=None)
        if id(value) in parameters or self.origins.of(value) == Origin():
            return replace(seen, init=parameter_init(name, seen.shape, self.shapes), draw=None)
        return seen
