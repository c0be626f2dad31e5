"""Tensors from descriptions, and descriptions of tensors."""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING, Any

from warpwright.core.dtypes import BY_TORCH_NAME, dtype_named
from warpwright.core.errors import UsageError
from warpwright.tasks.probing.child.recording import Origin
from warpwright.tasks.probing.seen import ScalarSeen, Seen, TensorSeen

if TYPE_CHECKING:
    import torch

_PLAIN = (bool, int, float, str, type(None))

# Stand-ins for the oracle's distributions of the same names, to test whether a function gives finite results.
DRAWS: dict[str, Callable[[Any], Any]] = {
    "normal": lambda noise: noise,
    "unit": lambda noise: noise.abs() % 1.0,
    "uniform": lambda noise: noise % 2.0 - 1.0,
    "large_mean": lambda noise: noise + 4.0,
    "tiny": lambda noise: noise * 2.0**-9,
    "negative": lambda noise: -noise.abs() - 0.125,
    "ties": lambda noise: (noise * 2.0).round() * 0.5,
    "sparse": lambda noise: noise * (noise.abs() > 1.0),
    "huge": lambda noise: noise * 2.0**12,
    "outliers": lambda noise: noise * (1.0 + 31.0 * (noise.abs() > 2.4)),
    "constant": lambda noise: noise[..., :1].expand(noise.shape) if noise.dim() else noise,
    "sorted": lambda noise: noise.sort(-1).values if noise.dim() else noise,
}


def made(seen: Seen, device: str, distribution: str | None = None) -> Any:
    """Builds the described value: without data on the meta device, else random."""
    if isinstance(seen, ScalarSeen):
        return list(seen.value) if isinstance(seen.value, tuple) else seen.value
    if seen.count is not None:
        return [_tensor(seen, device, distribution) for _ in range(seen.count)]
    return _tensor(seen, device, distribution)


def _tensor(seen: TensorSeen, device: str, distribution: str | None) -> torch.Tensor:
    import torch

    dtype = dtype_named(seen.dtype)
    kind = getattr(torch, dtype.torch)
    if device == "meta":
        return torch.empty(seen.shape, dtype=kind, device="meta")
    if not dtype.floating:
        return torch.randint(seen.low, seen.below or 2, seen.shape).to(kind)
    noise = torch.randn(seen.shape) * (2.0**-7 if distribution == "huge" and dtype.name in ("fp16", "e4m3") else 1.0)
    if seen.init == "probability":
        return noise.softmax(-1).to(kind)
    if seen.init in ("upper", "lower"):
        return (noise.triu() if seen.init == "upper" else noise.tril()).to(kind)
    positive = seen.init in ("variance", "unit")
    drawn = (
        noise * 0.1 if seen.init and not positive else DRAWS["unit" if positive else distribution or "normal"](noise)
    )
    return drawn.to(kind)


def seen_argument(name: str, value: Any, origin: Callable[[Any], Origin]) -> Seen:
    """Describes an argument; a UsageError if a candidate could not take it."""
    import torch

    if isinstance(value, torch.Tensor):
        return seen_tensor(name, value, origin(value))
    if isinstance(value, list | tuple) and value and all(isinstance(item, torch.Tensor) for item in value):
        return _seen_list(name, value, origin)
    if isinstance(value, list | tuple) and all(isinstance(item, _PLAIN) for item in value):
        return ScalarSeen(name=name, value=tuple(value))
    if isinstance(value, _PLAIN):
        return ScalarSeen(name=name, value=value)
    raise UsageError(f"argument {name} is a {type(value).__name__}; a kernel takes tensors, numbers, strings and None")


def seen_tensor(name: str, value: torch.Tensor, origin: Origin) -> TensorSeen:
    dtype = BY_TORCH_NAME.get(str(value.dtype).removeprefix("torch."))
    if dtype is None:
        raise UsageError(f"{name} has dtype {value.dtype}, which no task can have")
    whole = not dtype.floating and dtype.name != "bool"
    return TensorSeen(
        name=name,
        shape=tuple(int(size) for size in value.shape),
        dtype=dtype.name,
        below=origin.below if whole else None,
        low=origin.low if whole else 0,
        draw=origin.draw if dtype.floating else None,
        init=origin.init if dtype.floating else None,
        grad=dtype.floating,
    )


def _seen_list(name: str, value: Sequence[Any], origin: Callable[[Any], Origin]) -> TensorSeen:
    items = {seen_tensor(name, item, origin(item)) for item in value}
    if len(items) != 1:
        raise UsageError(f"argument {name} is a list of tensors of different shapes or dtypes, which no task can have")
    item = items.pop()
    return TensorSeen(name=name, shape=item.shape, dtype=item.dtype, below=item.below, grad=item.grad, count=len(value))


def elements(tensors: Sequence[Seen]) -> int:
    return sum(math.prod(seen.shape) * (seen.count or 1) for seen in tensors if isinstance(seen, TensorSeen))
