"""tt.dot in the precision of tensor cores: what they read of an operand, and how they add."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from warpwright.core.errors import Undecided
from warpwright.ttir.numbers import Array, rounded, tf32, whole
from warpwright.ttir.operations.table import means
from warpwright.ttir.syntax.tree import Operation

if TYPE_CHECKING:
    from warpwright.ttir.machine import Machine

_STEP = 16
"""The depth after which a tensor core rounds a sum of float16 products that it keeps in float16."""
_SPLITS = {"bf16x3": (2, 3), "bf16x6": (3, 6), "tf32x3": (2, 3)}
_PAIRS = ((0, 0), (0, 1), (1, 0), (1, 1), (0, 2), (2, 0))


@means("tt.dot")
def _dot(machine: Machine, operation: Operation, values: list[Any]) -> Array:
    left, right, added = (
        whole(value, kind) for value, kind in zip(values, [*operation.taken, *operation.given], strict=True)
    )
    element, target = operation.taken[0].element, operation.given[0].element
    words = operation.words
    precision = words[words.index("inputPrecision") + 1] if "inputPrecision" in words else "ieee"
    if element == "i8":
        return _integers(left, right) + added
    if target == "f16":
        return _in_half(left, right, added)
    if element == "f64":
        return np.matmul(left, right) + added
    product = _floats(left.astype(np.float32, copy=False), right.astype(np.float32, copy=False), element, precision)
    return rounded(product + added, target)


def _integers(left: Array, right: Array) -> Array:
    """Sums below 2^53 are exact in double; then they wrap."""
    return np.matmul(left.astype(np.float64), right.astype(np.float64)).astype(np.int64).astype(np.int32)


def _floats(left: Array, right: Array, element: str, precision: str) -> Array:
    if element != "f32" or precision == "ieee":
        return np.matmul(left, right)
    if precision == "tf32":
        return np.matmul(tf32(left), tf32(right))
    if precision not in _SPLITS:
        raise Undecided(f"unsupported: tt.dot with the precision {precision}")
    parts, products = _SPLITS[precision]
    lefts, rights = (_split(value, parts, precision) for value in (left, right))
    terms = [np.matmul(lefts[one], rights[other]) for one, other in _PAIRS[:products]]
    return np.asarray(sum(reversed(terms[1:]), start=terms[0]))


def _split(value: Array, parts: int, precision: str) -> list[Array]:
    """A float32 as a sum of numbers with fewer bits."""
    found: list[Array] = []
    for _ in range(parts):
        high = rounded(value, "bf16") if precision.startswith("bf16") else tf32(value)
        found.append(high)
        value = value - high
    return found


def _in_half(left: Array, right: Array, added: Array) -> Array:
    left, right = left.astype(np.float32), right.astype(np.float32)
    for start in range(0, left.shape[-1], _STEP):
        depth = slice(start, start + _STEP)
        added = (np.matmul(left[..., depth], right[..., depth, :]) + added).astype(np.float16)
    return added
