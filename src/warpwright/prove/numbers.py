"""Tensors of lifted numbers: int64 tensors that hold the place of each number in the library's store.

A place can be copied, permuted, gathered and padded by torch's own operations; place 0 is the number zero.
"""

from __future__ import annotations

import ctypes
from collections.abc import Callable, Sequence
from enum import IntEnum
from typing import Any

import torch

from warpwright.core.errors import Undecided
from warpwright.emulate.program.running import NUMBER_BYTES
from warpwright.prove.library import loaded

Places = torch.Tensor
LEVELS = 4
LOST = -1
"""The residue, as a signed number, that an operation does not have."""
PRIMES = (2147046719, 1073523359, 536761679, 268380839)
"""The same as in runtime/lifted/number.h."""


MOST = 50_000_000
"""The most numbers that are held at a time, 1.6 GB."""

_taken: dict[float, int] = {}


class Unary(IntEnum):
    """The operations of runtime/lifted/number.h, in its order."""

    EXP = 0
    LOG = 1
    SQRT = 2
    TANH = 3
    ERF = 4
    SIN = 5
    COS = 6
    TAN = 7
    ASIN = 8
    ACOS = 9
    ATAN = 10
    LGAMMA = 11
    FLOOR = 12
    CEIL = 13
    ROUND = 14
    TRUNC = 15
    NEAREST = 16
    ABS = 17
    NEGATE = 18


class Binary(IntEnum):
    ADD = 0
    SUBTRACT = 1
    MULTIPLY = 2
    DIVIDE = 3
    POWER = 4
    MODULO = 5
    ATAN2 = 6
    LARGER = 7
    SMALLER = 8


def clear() -> None:
    """Forgets all numbers: places made before mean nothing any more."""
    keep(1)


def keep(count: int) -> None:
    """Forgets all numbers but the first ones, of which the first is zero."""
    _taken.clear()
    loaded().lifted_keep(_size(count))


def put(records: torch.Tensor) -> Places:
    """Stores numbers, given as rows of NUMBER_BYTES bytes."""
    rows = records.contiguous()
    return _filled(rows.shape[:-1], lambda to: loaded().lifted_put(_at(rows), _size(to.numel()), _at(to)))


def get(places: Places) -> torch.Tensor:
    """The numbers at some places, as rows of NUMBER_BYTES bytes."""
    flat = places.contiguous()
    records = torch.zeros(*places.shape, NUMBER_BYTES, dtype=torch.uint8)
    loaded().lifted_get(_at(flat), _size(flat.numel()), _at(records))
    return records


def values(places: Places) -> torch.Tensor:
    """The doubles that decide comparisons."""
    flat = places.contiguous()
    found = torch.empty(places.shape, dtype=torch.float64)
    loaded().lifted_values(_at(flat), _size(flat.numel()), _at(found))
    return found


def read(constants: torch.Tensor) -> Places:
    """The numbers that constants stand for, such as 1e-5, 1/3 or the root of two."""
    flat = constants.to(torch.float32).contiguous()
    return _filled(flat.shape, lambda to: loaded().lifted_read(_at(flat), _size(to.numel()), _at(to)))


def whole(constants: torch.Tensor) -> Places:
    """The numbers of integers and flags."""
    flat = constants.to(torch.int64).contiguous()
    return _filled(flat.shape, lambda to: loaded().lifted_whole(_at(flat), _size(to.numel()), _at(to)))


def drawn(inputs: torch.Tensor, seed: int) -> Places:
    """Random numbers that stand for inputs; equal inputs stand for equal numbers, and opposite ones for opposite."""
    flat = inputs.to(torch.float64).contiguous()
    return _filled(flat.shape, lambda to: loaded().lifted_draw(_seed(seed), _at(flat), _size(to.numel()), _at(to)))


def number_of(value: float) -> Places:
    """The number of a constant, or of the double that was taken from a number: it may come back."""
    return torch.tensor(_taken[value]) if value in _taken else read(torch.tensor(value, dtype=torch.float64))


def value_of(place: Places) -> float:
    """A number's double, which stands for it from now on unless it is one that constants have, such as one half."""
    value = float(values(place))
    if value != float(torch.tensor(value, dtype=torch.float32)):
        _taken[value] = int(place)
    return value


def forget_draws() -> None:
    """Makes a fresh start for `drawn`, which else remembers what it was to draw again."""
    loaded().lifted_forget_draws()


def draw_again() -> int:
    """Has inputs drawn anew on which a root or logarithm depends that does not exist, and tells how many there are."""
    return int(loaded().lifted_draw_again())


def draw_best() -> None:
    """Goes back to the draw with which the fewest were missing."""
    loaded().lifted_draw_best()


def held() -> int:
    """How many numbers are held."""
    return int(loaded().lifted_count())


def unary(operation: Unary, x: Places) -> Places:
    flat = x.contiguous()
    return _filled(x.shape, lambda to: loaded().lifted_unary(int(operation), _at(flat), _size(to.numel()), _at(to)))


def binary(operation: Binary, a: Places, b: Places) -> Places:
    left, right = (item.contiguous() for item in torch.broadcast_tensors(a, b))
    return _filled(
        left.shape, lambda to: loaded().lifted_binary(int(operation), _at(left), _at(right), _size(to.numel()), _at(to))
    )


def reduced(operation: Binary, x: Places, dims: Sequence[int], *, keep: bool) -> Places:
    """Joins all elements along some dimensions."""
    order = [dim for dim in range(x.dim()) if dim not in dims]
    rows = x.permute([*order, *dims]).reshape([x.shape[dim] for dim in order] + [-1]).contiguous()
    joined = _reduced(operation, rows, running=False)
    return joined.reshape([1 if dim in dims else x.shape[dim] for dim in range(x.dim())]) if keep else joined


def running(operation: Binary, x: Places, dim: int) -> Places:
    """Joins each element with all before it along a dimension."""
    rows = x.movedim(dim, -1).contiguous()
    return _reduced(operation, rows, running=True).movedim(-1, dim)


def joined_at(operation: Binary, x: Places, positions: torch.Tensor, added: Places) -> Places:
    """Joins each of the added numbers, in order, with the one at its position in the flat x."""
    made = x.contiguous().clone()
    where, numbers = (item.contiguous() for item in torch.broadcast_tensors(positions, added))
    _guard(numbers.numel())
    loaded().lifted_join_at(int(operation), _at(numbers), _at(where), _size(numbers.numel()), _at(made))
    return made


def product(a: Places, b: Places) -> Places:
    """The matrix products of (batch, rows, depth) and (batch, columns, depth)."""
    left, right = a.contiguous(), b.contiguous()
    batch, rows, depth = left.shape
    columns = right.shape[1]
    sizes = [_size(size) for size in (batch, rows, columns, depth)]
    return _filled((batch, rows, columns), lambda to: loaded().lifted_product(_at(left), _at(right), *sizes, _at(to)))


def _reduced(operation: Binary, rows: Places, *, running: bool) -> Places:
    columns = rows.shape[-1]
    count = rows.numel() // columns if columns else 0
    shape = rows.shape if running else rows.shape[:-1]
    if not count:
        return torch.zeros(shape, dtype=torch.int64)
    return _filled(
        shape,
        lambda to: loaded().lifted_reduce(int(operation), _at(rows), _size(count), _size(columns), running, _at(to)),
    )


def _filled(shape: Sequence[int], fill: Callable[[Places], Any]) -> Places:
    made = torch.empty(tuple(shape), dtype=torch.int64)
    _guard(made.numel())
    fill(made)
    return made


def _guard(further: int) -> None:
    if held() + further > MOST:
        raise Undecided(f"unsupported: more than {MOST // 1_000_000} million lifted results")


def _at(tensor: torch.Tensor) -> ctypes.c_void_p:
    return ctypes.c_void_p(tensor.data_ptr())


def _seed(value: int) -> ctypes.c_uint64:
    return ctypes.c_uint64(value)


def _size(value: int) -> ctypes.c_int64:
    return ctypes.c_int64(value)
