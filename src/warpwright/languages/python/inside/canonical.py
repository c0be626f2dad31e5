"""The form of an operation that a plan names: functional, with tensors in order and all else by name.

`x.add_(2)` is `add.Scalar` of x and 2 whose result is x.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import torch
from torch.utils._python_dispatch import _disable_current_modes

_IGNORED = {"device", "layout", "pin_memory", "memory_format", "generator", "non_blocking"}


@dataclass(frozen=True, slots=True)
class Canonical:
    name: str
    inputs: list[torch.Tensor | None]
    options: dict[str, Any]
    in_place: bool


def canonical(func: Any, args: Sequence[Any], kwargs: Mapping[str, Any]) -> Canonical:
    """The functional form of a call of an operation."""
    values = _named(func, args, kwargs)
    written = [item.name for item in func._schema.arguments if item.alias_info and item.alias_info.is_write]
    first = func._schema.arguments[0].name if func._schema.arguments else None
    in_place = _is_out(func) or first in written
    functional = _with_scalars(_functional(func) if in_place else func, values)
    inputs: list[torch.Tensor | None] = []
    options: dict[str, Any] = {}
    for argument in functional._schema.arguments:
        value = values.get(argument.name)
        kind = str(argument.type)
        if "Tensor" in kind:
            inputs += value if isinstance(value, list | tuple) else [_tensor(value)]
        elif argument.name not in _IGNORED and value is not None:
            options[argument.name] = _plain(value)
    return Canonical(name=_name(functional), inputs=inputs, options=options, in_place=in_place)


def _named(func: Any, args: Sequence[Any], kwargs: Mapping[str, Any]) -> dict[str, Any]:
    """All arguments by name, with defaults."""
    names = func._schema.arguments
    values = {item.name: item.default_value for item in names if item.has_default_value()}
    values |= {item.name: value for item, value in zip(names, args, strict=False)}
    return values | dict(kwargs)


def _is_out(func: Any) -> bool:
    return any(item.is_out for item in func._schema.arguments)


def _functional(func: Any) -> Any:
    """The overload that returns what this one writes."""
    packet, wanted = func.overloadpacket, [item.name for item in func._schema.arguments if not item.is_out]
    name = func._schema.name.removeprefix("aten::")
    if name.endswith("_") and not name.endswith("__"):
        packet = getattr(torch.ops.aten, name[:-1], packet)
    for overload in (getattr(packet, item) for item in packet.overloads()):
        names = [item.name for item in overload._schema.arguments]
        if names == wanted and not _writes(overload) and _same_types(overload, func):
            return overload
    return func


def _writes(func: Any) -> bool:
    return any(item.alias_info and item.alias_info.is_write for item in func._schema.arguments)


def _same_types(one: Any, other: Any) -> bool:
    kept = [item for item in other._schema.arguments if not item.is_out]
    return all(str(a.type) == str(b.type) for a, b in zip(one._schema.arguments, kept, strict=True))


def _with_scalars(func: Any, values: Mapping[str, Any]) -> Any:
    """The overload for a number where this one takes a tensor."""
    number = any(
        str(item.type) == "Tensor" and isinstance(values.get(item.name), int | float) for item in func._schema.arguments
    )
    for suffix in ("Scalar", "Tensor_Scalar", "ScalarOther", "ScalarSelf", "Scalar_mode") if number else ():
        overload = getattr(func.overloadpacket, suffix, None)
        if overload is not None and all(
            "Tensor" not in str(item.type) or not isinstance(values.get(item.name), int | float)
            for item in overload._schema.arguments
        ):
            return overload
    return func


def _tensor(value: Any) -> Any:
    """A tensor operand. A number where only a tensor will do becomes one on the CPU."""
    if not isinstance(value, bool | int | float):
        return value
    with _disable_current_modes():
        return torch.tensor(value)


def _name(func: Any) -> str:
    name = func._schema.name.removeprefix("aten::")
    overload = func._schema.overload_name
    return f"{name}.{overload}" if overload else name


def _plain(value: Any) -> Any:
    if isinstance(value, torch.dtype):
        return {"dtype": str(value).removeprefix("torch.")}
    if isinstance(value, list | tuple):
        return [_plain(item) for item in value]
    return value
