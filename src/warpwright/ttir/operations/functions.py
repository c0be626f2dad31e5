"""math: exponentials, logarithms, roots."""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import TYPE_CHECKING, Any

import numpy as np

from warpwright.ttir.numbers import Array, rounded
from warpwright.ttir.operations.table import MEANINGS, Meaning, means
from warpwright.ttir.syntax.tree import Operation

if TYPE_CHECKING:
    from warpwright.ttir.machine import Machine


def _each(function: Callable[[float], float]) -> Callable[[Array], Array]:
    """A function of Python's on every element; numpy has no error function and no gamma function."""
    every = np.frompyfunc(function, 1, 1)
    return lambda values: np.asarray(every(values.astype(np.float64)), np.float64)


def _gamma(value: float) -> float:
    try:
        return math.gamma(value)
    except (OverflowError, ValueError):
        return math.inf if value > 0 else math.nan


def _log_gamma(value: float) -> float:
    try:
        return math.lgamma(value)
    except (OverflowError, ValueError):
        return math.inf


UNARY: dict[str, Callable[..., Any]] = {
    "exp": np.exp,
    "exp2": np.exp2,
    "expm1": np.expm1,
    "log": np.log,
    "log2": np.log2,
    "log10": np.log10,
    "log1p": np.log1p,
    "sqrt": np.sqrt,
    "rsqrt": lambda value: 1 / np.sqrt(value),
    "cbrt": np.cbrt,
    "sin": np.sin,
    "cos": np.cos,
    "tan": np.tan,
    "asin": np.arcsin,
    "acos": np.arccos,
    "atan": np.arctan,
    "sinh": np.sinh,
    "cosh": np.cosh,
    "tanh": np.tanh,
    "asinh": np.arcsinh,
    "acosh": np.arccosh,
    "atanh": np.arctanh,
    "floor": np.floor,
    "ceil": np.ceil,
    "trunc": np.trunc,
    "rint": np.rint,
    "nearbyint": np.rint,
    "roundeven": np.rint,
    "round": lambda value: np.trunc(value + np.copysign(0.5, value)),
    "absf": np.abs,
    "fabs": np.abs,
    "erf": _each(math.erf),
    "erfc": _each(math.erfc),
    "tgamma": _each(_gamma),
    "lgamma": _each(_log_gamma),
}
BINARY: dict[str, Callable[..., Any]] = {
    "powf": np.power,
    "pow": np.power,
    "atan2": np.arctan2,
    "copysign": np.copysign,
    "fmod": np.fmod,
    "hypot": np.hypot,
    "fmax": np.fmax,
    "fmin": np.fmin,
    "nextafter": np.nextafter,
}


def in_floats(function: Callable[..., Any]) -> Meaning:
    """Compute in float32 at least, round once."""

    def run(machine: Machine, operation: Operation, values: list[Any]) -> Array:
        wide = [value.astype(np.float32) if value.dtype == np.float16 else value for value in values]
        return rounded(np.asarray(function(*wide)), operation.type.element)

    return run


for _name, _function in {**UNARY, **BINARY}.items():
    MEANINGS[f"math.{_name}"] = in_floats(_function)
MEANINGS["tt.precise_sqrt"] = in_floats(np.sqrt)


@means("math.fma")
def _fused(machine: Machine, operation: Operation, values: list[Any]) -> Array:
    """One rounding: the product of two float32 is exact in double."""
    left, right, added = (value.astype(np.float64) for value in values)
    return rounded(np.asarray(left * right + added), operation.type.element)


@means("math.fpowi")
def _integer_power(machine: Machine, operation: Operation, values: list[Any]) -> Array:
    return rounded(np.power(values[0], values[1].astype(np.float64)), operation.type.element)


@means("math.absi")
def _absolute(machine: Machine, operation: Operation, values: list[Any]) -> Array:
    return np.abs(values[0])


@means("math.isnan", "math.isinf", "math.isfinite")
def _classify(machine: Machine, operation: Operation, values: list[Any]) -> Array:
    return np.asarray({"isnan": np.isnan, "isinf": np.isinf, "isfinite": np.isfinite}[operation.name[5:]](values[0]))


@means("math.ctpop")
def _ones(machine: Machine, operation: Operation, values: list[Any]) -> Array:
    return np.bitwise_count(values[0].view(f"u{values[0].dtype.itemsize}")).astype(values[0].dtype)


@means("math.ctlz")
def _leading_zeros(machine: Machine, operation: Operation, values: list[Any]) -> Array:
    return leading_zeros(values[0])


def leading_zeros(value: Array) -> Array:
    """The zeros before the highest bit: smear that bit downwards and count the rest."""
    bits = value.view(f"u{value.dtype.itemsize}")
    width = value.dtype.itemsize * 8
    for shift in (1, 2, 4, 8, 16, 32):
        if shift < width:
            bits = bits | bits >> bits.dtype.type(shift)
    return np.asarray(width - np.bitwise_count(bits).astype(value.dtype)).astype(value.dtype)


@means("tt.clampf")
def _clamp(machine: Machine, operation: Operation, values: list[Any]) -> Array:
    """NaN becomes the lower bound, unless NaN is to be kept."""
    value, low, high = values
    keep = "all" in operation.words
    return np.asarray(np.minimum(np.maximum(value, low), high) if keep else np.fmin(np.fmax(value, low), high))
