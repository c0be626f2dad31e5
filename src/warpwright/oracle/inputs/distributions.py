"""Recipes for inputs and parameters in float32, made of exactly rounded operations only.

Inputs use the distribution of the draw; parameters have their own recipe in two variants, so that no parameter is
always an identity that a kernel could omit.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass, replace

import torch

from warpwright.core.dtypes import DType
from warpwright.oracle.inputs.generator import random_bits


@dataclass(frozen=True, slots=True, kw_only=True)
class Source:
    """The source of a tensor's random values."""

    seed: int
    name: str
    shape: tuple[int, ...]
    dtype: DType
    device: torch.device | str = "cpu"
    first: int = 0
    last: int | None = None
    """The range of positions in the flat tensor; None stands for its end."""

    @property
    def count(self) -> int:
        return (math.prod(self.shape) if self.last is None else self.last) - self.first

    @property
    def row(self) -> int:
        return max(self.shape[-1], 1) if self.shape else 1

    def bits(self, purpose: str) -> torch.Tensor:
        return random_bits(self.seed, f"{self.name}/{purpose}", self.count, self.device, self.first)

    def position(self) -> torch.Tensor:
        """The position of each element in its row."""
        return self.places() % self.row

    def places(self) -> torch.Tensor:
        """The position of each element in the flat tensor."""
        return torch.arange(self.first, self.first + self.count, device=self.device)


Recipe = Callable[[Source], torch.Tensor]
AT_ONCE = 1 << 26
"""Elements that are drawn at a time, because recipes use ten times the memory of their results."""


def drawn(recipe: Recipe, source: Source, dtype: torch.dtype, at_once: int = AT_ONCE) -> torch.Tensor:
    """Draws the values of a flat tensor piece by piece, for recipes whose values depend only on their position."""
    if source.count <= at_once:
        return recipe(source).to(dtype)
    values = torch.empty(source.count, dtype=dtype, device=source.device)
    for first in range(0, source.count, at_once):
        last = min(first + at_once, source.count)
        values[first:last] = recipe(replace(source, first=first, last=last))
    return values


def unit(source: Source) -> torch.Tensor:
    """Uniform on [0, 1) with 24 bits."""
    return (source.bits("unit") >> 8).to(torch.float32) * 2.0**-24


def normal(source: Source) -> torch.Tensor:
    """Approximately normal: the sum of four 16-bit uniforms, an integer until the last step."""
    first, second = source.bits("normal-0"), source.bits("normal-1")
    total = (first & 0xFFFF) + (first >> 16) + (second & 0xFFFF) + (second >> 16)
    return (total - 2 * 0xFFFF).to(torch.float32) * (1.0 / 37837.0)


def _one_in(source: Source, odds: int, purpose: str) -> torch.Tensor:
    return source.bits(purpose) % odds == 0


def _huge(source: Source) -> torch.Tensor:
    return normal(source) * (2.0**5 if source.dtype.name in ("fp16", "e4m3") else 2.0**12)


def _outliers(source: Source) -> torch.Tensor:
    return torch.where(_one_in(source, 61, "outlier"), normal(source) * 32.0, normal(source))


def _sorted(source: Source) -> torch.Tensor:
    return source.position().to(torch.float32) * (4.0 / source.row) - 2.0


def _constant(source: Source) -> torch.Tensor:
    """One value for each row: no variance, all ties."""
    rows = source.places() // source.row
    first = source.first // source.row
    values = normal(replace(source, first=first, last=first + -(-source.count // source.row) + 1))
    return values[rows - first]


def _special(source: Source) -> torch.Tensor:
    """Infinities and NaN among normal values."""
    values, which = normal(source), source.bits("special") % 97
    for code, value in ((0, math.inf), (1, -math.inf), (2, math.nan)):
        values = torch.where(which == code, value, values)
    return values


DISTRIBUTIONS: dict[str, Recipe] = {
    "normal": normal,
    "unit": unit,
    "uniform": lambda source: unit(source) * 2.0 - 1.0,
    "positive": lambda source: unit(source) + 0.0625,
    "large_mean": lambda source: normal(source) + 4.0,
    "tiny": lambda source: normal(source) * 2.0**-9,
    "huge": _huge,
    "negative": lambda source: -normal(source).abs() - 0.125,
    "ties": lambda source: (normal(source) * 2.0).round() * 0.5,
    "sorted": _sorted,
    "constant": _constant,
    "sparse": lambda source: torch.where(_one_in(source, 4, "keep"), normal(source), 0.0),
    "outliers": _outliers,
    "zeros": lambda source: torch.zeros(source.count, device=source.device),
    "special": _special,
}


def _fan_in(source: Source) -> float:
    return 1.0 / math.sqrt(max(math.prod(source.shape[1:]), 1))


def _probability(source: Source) -> torch.Tensor:
    """Positive rows that sum to one; sums of integers are exact in any order."""
    weights = ((source.bits("probability") >> 16) + 1).reshape(-1, source.row)
    return (weights.to(torch.float32) / weights.sum(-1, keepdim=True).to(torch.float32)).flatten()


def _triangle(source: Source, values: torch.Tensor, upper: bool = True) -> torch.Tensor:
    """A matrix with zeros on one side of its diagonal; a vector is returned unchanged."""
    if len(source.shape) < 2:
        return values
    shaped = values.reshape(source.shape)
    return (shaped.triu() if upper else shaped.tril()).flatten()


INITS: dict[str, tuple[Recipe, Recipe]] = {
    "gain": (lambda source: normal(source) * 0.5 + 1.0, normal),
    "bias": (lambda source: normal(source) * 0.5, lambda source: normal(source) + 1.0),
    "weight": (
        lambda source: normal(source) * _fan_in(source),
        lambda source: (normal(source) + 0.5) * _fan_in(source),
    ),
    "variance": (lambda source: unit(source) + 0.5, lambda source: unit(source) * 2.0 + 0.125),
    "scale": (lambda source: (unit(source) + 0.5) * 2.0**-7, lambda source: (unit(source) + 0.25) * 2.0**-6),
    "moment": (lambda source: normal(source) * 0.125, lambda source: normal(source) * 0.5),
    "second_moment": (lambda source: unit(source) * 2.0**-6, lambda source: unit(source) + 2.0**-10),
    "normal": (normal, lambda source: normal(source) * 2.0),
    "unit": (unit, unit),
    "probability": (_probability, _probability),
    "upper": (lambda source: _triangle(source, normal(source)), lambda source: _triangle(source, unit(source))),
    "lower": (
        lambda source: _triangle(source, normal(source), upper=False),
        lambda source: _triangle(source, unit(source), upper=False),
    ),
}


def integers(source: Source, below: int, distribution: str) -> torch.Tensor:
    """Integers in [0, below): uniform, few and repeated, ascending, or constant."""
    bits = source.bits("integers")
    match distribution:
        case "ties" | "sparse":
            return bits % max(min(below, 3), 1) * max(below // 3, 1) % max(below, 1)
        case "sorted":
            return (source.position() * below // source.row).clamp_(max=max(below - 1, 0))
        case "constant" | "zeros":
            return torch.full_like(bits, max(below - 1, 0) if distribution == "constant" else 0)
    return bits % max(below, 1)


def signed_bytes(source: Source) -> torch.Tensor:
    """Quantised weights from -127 to 127."""
    return source.bits("signed") % 255 - 127
