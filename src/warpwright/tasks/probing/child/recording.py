"""Records the origin of the tensors that a file makes, through the operations that make them."""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING, Any

from warpwright.core.errors import UsageError

if TYPE_CHECKING:
    import torch

_DRAWS = {
    "rand": "unit", "rand_like": "unit", "uniform_": "unit",
    "randn": "normal", "randn_like": "normal", "normal": "normal", "normal_": "normal",
}  # fmt: skip
_COUNTING = {"randperm", "arange"}
# The results of these operations have a structure that a kernel may rely on, or are at least not negative.
_STRUCTURES = {"triu": "upper", "tril": "lower", "softmax": "probability"}
_POSITIVE = {"abs", "exp", "sigmoid", "square", "clamp", "clamp_min", "softplus", "relu"}
LARGEST = 2**28


@dataclass(frozen=True, slots=True, kw_only=True)
class Origin:
    draw: str | None = None
    below: int | None = None
    low: int = 0
    init: str | None = None


@dataclass(slots=True)
class Origins:
    """Origins by the identity of a tensor; tensors are kept alive, so that no identity is used twice."""

    _held: dict[int, tuple[Any, Origin]] = field(default_factory=dict)

    def of(self, value: Any) -> Origin:
        return self._held.get(id(value), (None, Origin()))[1]

    def note(self, name: str, args: Sequence[Any], options: dict[str, Any], out: Any) -> None:
        import torch

        if not isinstance(out, torch.Tensor):
            return
        inherited = next((self.of(arg) for arg in _flat(args) if id(arg) in self._held), None)
        origin = _made(name, args, options, out) or (inherited and _changed(name, inherited))
        if origin is not None:
            self._held[id(out)] = (out, origin)


@contextmanager
def recording(device: str) -> Iterator[Origins]:
    """Moves every tensor made inside to `device`, whatever the file says, and records its origin."""
    import torch
    from torch.overrides import TorchFunctionMode

    origins = Origins()

    class Recorder(TorchFunctionMode):
        def __torch_function__(self, func: Any, types: Any, args: Any = (), kwargs: Any = None) -> Any:
            options = {key: device if key == "device" else value for key, value in (kwargs or {}).items()}
            name = getattr(func, "__name__", "")
            if device != "meta" and name in _DRAWS:
                _refuse_huge(args)
            out = func(*args, **options)
            origins.note(name, args, options, out)
            return out

    with torch.device(device), _without_validation(), Recorder():
        yield origins


@contextmanager
def _without_validation() -> Iterator[None]:
    """Disables argument checks of distributions, which would read tensors without data."""
    from torch.distributions import Distribution

    before = Distribution._validate_args
    Distribution.set_default_validate_args(False)
    try:
        yield
    finally:
        Distribution.set_default_validate_args(before)


def _made(name: str, args: Sequence[Any], options: dict[str, Any], out: torch.Tensor) -> Origin | None:
    if name in _DRAWS:
        return Origin(draw=_DRAWS[name])
    if name in ("randint", "randint_like", "random_"):
        return _whole([arg for arg in args if type(arg) is int], options)
    if name in _COUNTING and not out.is_floating_point():
        return Origin(below=max(out.numel(), 1))
    return None


def _whole(numbers: list[int], options: dict[str, Any]) -> Origin:
    """Parses the bounds of randint(high, size) and randint(low, high, size), also as keywords."""
    high = options.get("high", numbers[-1] if numbers else None)
    low = options.get("low", numbers[0] if len(numbers) > 1 else 0)
    if type(high) is not int or high <= 0:
        return Origin()
    return Origin(below=high, low=max(low, 0))


def _changed(name: str, origin: Origin) -> Origin:
    if name in _STRUCTURES:
        return replace(origin, init=_STRUCTURES[name])
    return replace(origin, draw="unit") if name in _POSITIVE and origin.draw else origin


def _flat(args: Sequence[Any]) -> Iterator[Any]:
    for arg in args:
        if isinstance(arg, list | tuple):
            yield from arg
        else:
            yield arg


def _refuse_huge(args: Sequence[Any]) -> None:
    sizes = [size for size in _flat(args) if type(size) is int]
    if sizes and math.prod(sizes) > LARGEST:
        raise UsageError("runs only on real data, and its inputs are too large for that; make them smaller")
