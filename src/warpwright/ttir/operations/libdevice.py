"""NVIDIA's device functions, by symbol: `__nv_tanhf`, `__nv_fast_expf`, `__nv_ffs`."""

from __future__ import annotations

import math
import re
from collections.abc import Callable
from typing import TYPE_CHECKING, Any

import numpy as np

from warpwright.core.errors import Undecided
from warpwright.ttir.numbers import Array, kept, rounded
from warpwright.ttir.operations.functions import BINARY, UNARY, leading_zeros
from warpwright.ttir.operations.table import means
from warpwright.ttir.syntax.tree import Operation

if TYPE_CHECKING:
    from warpwright.ttir.machine import Machine

_ROOT_TWO = math.sqrt(2.0)
_FLOATS: dict[str, Callable[..., Any]] = {
    **UNARY,
    **BINARY,
    "exp10": lambda value: np.power(10.0, value),
    "rcbrt": lambda value: 1 / np.cbrt(value),
    "sinpi": lambda value: np.sin(np.pi * value.astype(np.float64)),
    "cospi": lambda value: np.cos(np.pi * value.astype(np.float64)),
    "normcdf": lambda value: 0.5 * UNARY["erfc"](-value / _ROOT_TWO),
    "erfcx": lambda value: np.exp(value.astype(np.float64) ** 2) * UNARY["erfc"](value),
    "saturate": lambda value: np.fmin(np.fmax(value, 0), 1),
    "fdim": lambda left, right: np.fmax(left - right, 0),
    "fdividef": np.divide,
    "frcp_rn": lambda value: 1 / value,
    "fadd_rn": np.add,
    "fsub_rn": np.subtract,
    "fmul_rn": np.multiply,
    "fdiv_rn": np.divide,
    "fsqrt_rn": np.sqrt,
    "frsqrt_rn": lambda value: 1 / np.sqrt(value),
    "ldexp": np.ldexp,
    "powi": lambda value, by: np.power(value, by.astype(value.dtype)),
    "fma": lambda a, b, c: a.astype(np.float64) * b.astype(np.float64) + c.astype(np.float64),
}
_TESTS: dict[str, Callable[..., Any]] = {
    "isnan": np.isnan,
    "isinf": np.isinf,
    "finite": np.isfinite,
    "isfinited": np.isfinite,
    "signbit": np.signbit,
}
_INTEGERS: dict[str, Callable[..., Any]] = {
    "popc": lambda value: np.bitwise_count(value.view(f"u{value.dtype.itemsize}")),
    "clz": leading_zeros,
    "ffs": lambda value: np.where(value == 0, 0, value.dtype.itemsize * 8 - leading_zeros(value & -value)),
    "abs": np.abs,
    "min": np.minimum,
    "max": np.maximum,
}
_TO_INTEGER: dict[str, Callable[..., Any]] = {
    "rint": np.rint,
    "round": UNARY["round"],
    "float2int_rn": np.rint,
    "float2int_rz": np.trunc,
}
_SYMBOL = re.compile(r"__nv_(?:fast_)?(\w+)$")


@means("tt.extern_elementwise")
def _extern(machine: Machine, operation: Operation, values: list[Any]) -> Array:
    symbol = operation.attributes.get("symbol", "").strip('"')
    match = _SYMBOL.match(symbol)
    element = operation.given[0].element
    name = match[1] if match else ""
    for known in (name, name[:-1] if name[-1:] == "f" else "", name[:-2] if name[-2:] == "ll" else ""):
        if element[0] == "f" and known in _FLOATS:
            return rounded(np.asarray(_FLOATS[known](*values)), element)
        if element[0] == "i" and known in _TESTS:
            return np.asarray(_TESTS[known](values[0]).astype(kept(element)))
        if element[0] == "i" and known in _INTEGERS and values[0].dtype.kind == "i":
            return np.asarray(_INTEGERS[known](*values)).astype(kept(element))
        whole = known.removeprefix("ll").removeprefix("l")
        if element[0] == "i" and whole in _TO_INTEGER and values[0].dtype.kind == "f":
            return np.asarray(_TO_INTEGER[whole](values[0])).astype(kept(element))
    raise Undecided(f"unsupported: the device function {symbol}")
