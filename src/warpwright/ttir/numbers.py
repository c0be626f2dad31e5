"""Element types as numpy keeps them, and their rounding. Types that numpy lacks are kept as float32 and rounded.

Every value has the programs of a batch as its first axis; an extent of one stands for all of them. Other axes may have
an extent of one too where their type has more: the value is the same along them.
"""

from __future__ import annotations

from functools import cache
from typing import Any

import numpy as np
from numpy.typing import NDArray

from warpwright.core.errors import Undecided
from warpwright.ttir.syntax.types import Type

Array = NDArray[Any]

_KEPT: dict[str, Any] = {
    "i1": np.bool_,
    "i8": np.int8,
    "i16": np.int16,
    "i32": np.int32,
    "i64": np.int64,
    "index": np.int64,
    "ptr": np.int64,
    "f16": np.float16,
    "bf16": np.float32,
    "f32": np.float32,
    "f64": np.float64,
    "f8E4M3FN": np.float32,
    "f8E5M2": np.float32,
}
_STORED: dict[str, Any] = {**_KEPT, "i1": np.int8, "bf16": np.uint16, "f8E4M3FN": np.uint8, "f8E5M2": np.uint8}
_EIGHT_BITS = {"f8E4M3FN": (4, 3, 448.0), "f8E5M2": (5, 2, 57344.0)}


def kept(element: str) -> Any:
    """The numpy type that holds values of an element type. Undecided if there is none."""
    if element not in _KEPT:
        raise Undecided(f"unsupported: numbers of type {element}")
    return _KEPT[element]


def stored(element: str) -> np.dtype[Any]:
    """The numpy type of the same bits in memory."""
    kept(element)
    return np.dtype(_STORED[element])


def unsigned(values: Array) -> Array:
    """The same bits without a sign."""
    return values.view(np.dtype(f"u{values.dtype.itemsize}")) if values.dtype.kind == "i" else values


def rounded(values: Array, element: str) -> Array:
    """Float values as numbers of an element type, rounded to nearest even."""
    if element == "bf16":
        return from_memory(_bf16_bits(values.astype(np.float32, copy=False)), "bf16")
    if element in _EIGHT_BITS:
        return from_memory(_eight_bits(values.astype(np.float32, copy=False), element), element)
    with np.errstate(all="ignore"):
        return values.astype(kept(element), copy=False)


def from_memory(bits: Array, element: str) -> Array:
    if element == "bf16":
        return (bits.astype(np.uint32) << 16).view(np.float32)
    if element in _EIGHT_BITS:
        return _table(element)[bits]
    return bits != 0 if element == "i1" else bits


def to_memory(values: Array, element: str) -> Array:
    if element == "bf16":
        return _bf16_bits(values)
    if element in _EIGHT_BITS:
        return _eight_bits(values, element)
    return values.astype(stored(element), copy=False)


def tf32(values: Array) -> Array:
    """The ten bits of a mantissa that tensor cores read of a float32."""
    return (np.ascontiguousarray(values).view(np.uint32) & np.uint32(0xFFFFE000)).view(np.float32)


def whole(values: Array, kind: Type) -> Array:
    """A value with all elements of its type; the axis of programs stays as it is."""
    shape = (values.shape[0], *kind.shape)
    return values if values.shape == shape else np.broadcast_to(values, shape)


def _bf16_bits(values: Array) -> Array:
    bits = np.ascontiguousarray(values, dtype=np.float32).view(np.uint32)
    up = bits + np.uint32(0x7FFF) + ((bits >> 16) & np.uint32(1))
    return np.where(np.isnan(values), np.uint32(0x7FC0), up >> 16).astype(np.uint16)


@cache
def _table(element: str) -> Array:
    """The value of each of the 256 patterns."""
    exponent_bits, mantissa_bits, largest = _EIGHT_BITS[element]
    bits = np.arange(256)
    exponent = (bits >> mantissa_bits) & (2**exponent_bits - 1)
    mantissa = (bits & (2**mantissa_bits - 1)) / 2**mantissa_bits
    bias = 2 ** (exponent_bits - 1) - 1
    size = np.where(exponent == 0, mantissa * 2.0 ** (1 - bias), (1 + mantissa) * 2.0 ** (exponent - bias))
    top = exponent == 2**exponent_bits - 1
    infinite = (
        np.where(mantissa == 0, np.inf, np.nan) if element == "f8E5M2" else np.where(size > largest, np.nan, size)
    )
    size = np.where(top, infinite, size)
    return np.where(bits >= 128, -size, size).astype(np.float32)


def _eight_bits(values: Array, element: str) -> Array:
    """Nearest patterns, ties to even; what is too large becomes the largest number, as Triton's casts saturate."""
    positive = _table(element)[:128]
    finite = positive[np.isfinite(positive)]
    size = np.minimum(np.abs(values), finite[-1])
    above = np.searchsorted(finite, size).clip(1, len(finite) - 1)
    low, high = finite[above - 1], finite[above]
    with np.errstate(invalid="ignore"):
        up = (size - low > high - size) | ((size - low == high - size) & (above % 2 == 0))
    bits = np.where(up, above, above - 1).astype(np.uint8)
    bits = np.where(np.isnan(values), np.uint8(0x7F), bits)
    return bits | (np.signbit(values).astype(np.uint8) << 7)
