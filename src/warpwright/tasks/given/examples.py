"""Describes the example inputs of a Python caller in the form of the command line."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from warpwright.core.dtypes import dtype_named
from warpwright.core.errors import UsageError


def descriptions(inputs: Sequence[object] | Mapping[str, object]) -> tuple[str, ...]:
    """Returns one description for each input; text is taken as a description, and a mapping names its inputs."""
    if isinstance(inputs, str):
        raise UsageError(f"inputs are a list with one entry for each argument; write ['{inputs}']")
    if isinstance(inputs, Mapping):
        return tuple(f"{name}={_described(value)}" for name, value in inputs.items())
    return tuple(_described(value) for value in inputs)


def _described(value: Any) -> str:
    if isinstance(value, str):
        return value
    if hasattr(value, "shape") and hasattr(value, "dtype"):
        return tensor_description(value)
    if isinstance(value, list | tuple) and not any(isinstance(item, list | tuple) for item in value):
        return f"[{', '.join(map(_described, value))}]"
    if value is None or isinstance(value, bool | int | float):
        return str(value).lower()
    raise UsageError(f"an input is a tensor, a number or a description such as 8,512:bf16, not {type(value).__name__}")


def tensor_description(tensor: Any) -> str:
    """Describes sizes and dtype of a tensor; integers stay within the range of the example."""
    dtype = dtype_named(str(tensor.dtype))
    sizes = ",".join(str(size) for size in tensor.shape) + ("," if len(tensor.shape) == 1 else "")
    counts = not dtype.floating and dtype.name != "bool" and 0 not in tensor.shape and _has_values(tensor)
    bound = f"<{max(int(tensor.max()) + 1, 1)}" if counts else ""
    return f"{sizes}:{dtype.name}{bound}"


def _has_values(tensor: Any) -> bool:
    return not getattr(tensor, "is_meta", False)
