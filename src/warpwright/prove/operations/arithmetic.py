"""Elementwise operations that the numbers have themselves, and comparisons by their doubles."""

from __future__ import annotations

from typing import Any

import torch

from warpwright.prove import numbers
from warpwright.prove.numbers import Binary, Unary
from warpwright.prove.tensor import LiftedTensor, Operation, implements, lifted, made, unsupported, values_of

_UNARY = {
    "exp": Unary.EXP,
    "log": Unary.LOG,
    "sqrt": Unary.SQRT,
    "tanh": Unary.TANH,
    "erf": Unary.ERF,
    "special_erf": Unary.ERF,
    "sin": Unary.SIN,
    "cos": Unary.COS,
    "tan": Unary.TAN,
    "asin": Unary.ASIN,
    "acos": Unary.ACOS,
    "atan": Unary.ATAN,
    "lgamma": Unary.LGAMMA,
    "floor": Unary.FLOOR,
    "ceil": Unary.CEIL,
    "trunc": Unary.TRUNC,
    "abs": Unary.ABS,
    "neg": Unary.NEGATE,
}
_BINARY = {
    "mul": Binary.MULTIPLY,
    "pow": Binary.POWER,
    "fmod": Binary.MODULO,
    "atan2": Binary.ATAN2,
    "maximum": Binary.LARGER,
    "minimum": Binary.SMALLER,
}
_DECIDED = (
    *("gt", "ge", "lt", "le", "eq", "ne"),
    *("isnan", "isinf", "isposinf", "isneginf", "isfinite", "signbit"),
    *("logical_not", "logical_and", "logical_or", "logical_xor"),
    *("any", "all", "equal", "is_nonzero", "nonzero", "bucketize", "searchsorted", "isin"),
)
_WHOLE = ("sign", "sgn", "heaviside")


def _unary(operation: Unary) -> Operation:
    return lambda func, x: made(numbers.unary(operation, lifted(x)), x)


def _binary(operation: Binary) -> Operation:
    return lambda func, a, b: made(numbers.binary(operation, lifted(a), lifted(b)), a, b)


for name, unary in _UNARY.items():
    implements(name)(_unary(unary))
for name, binary in _BINARY.items():
    implements(name)(_binary(binary))


@implements("add")
def add(func: Any, a: Any, b: Any, alpha: Any = 1) -> LiftedTensor:
    return made(numbers.binary(Binary.ADD, lifted(a), _scaled(b, alpha)), a, b)


@implements("sub")
def subtract(func: Any, a: Any, b: Any, alpha: Any = 1) -> LiftedTensor:
    return made(numbers.binary(Binary.SUBTRACT, lifted(a), _scaled(b, alpha)), a, b)


@implements("rsub")
def subtract_from(func: Any, a: Any, b: Any, alpha: Any = 1) -> LiftedTensor:
    return made(numbers.binary(Binary.SUBTRACT, lifted(b), _scaled(a, alpha)), a, b)


def _scaled(x: Any, alpha: Any) -> torch.Tensor:
    return lifted(x) if alpha == 1 else numbers.binary(Binary.MULTIPLY, lifted(x), lifted(alpha))


@implements("div", "true_divide")
def divide(func: Any, a: Any, b: Any, rounding_mode: str | None = None) -> LiftedTensor:
    quotient = numbers.binary(Binary.DIVIDE, lifted(a), lifted(b))
    rounding = {None: None, "floor": Unary.FLOOR, "trunc": Unary.TRUNC}[rounding_mode]
    return made(quotient if rounding is None else numbers.unary(rounding, quotient), a, b)


@implements("reciprocal")
def reciprocal(func: Any, x: Any) -> Any:
    return divide(func, 1, x)


@implements("floor_divide")
def floor_divide(func: Any, a: Any, b: Any) -> Any:
    return divide(func, a, b, rounding_mode="floor")


@implements("round")
def nearest(func: Any, x: LiftedTensor, decimals: int = 0) -> LiftedTensor:
    if decimals:
        raise unsupported("round to decimals")
    return made(numbers.unary(Unary.NEAREST, lifted(x)), x)


def _decided(func: Any, *args: Any, **given: Any) -> Any:
    return func(*map(values_of, args), **given)


implements(*_DECIDED)(_decided)


@implements(*_WHOLE)
def whole(func: Any, *args: Any) -> LiftedTensor:
    return made(numbers.read(func(*map(values_of, args))), *args)
