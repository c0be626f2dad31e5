"""Lowers elementwise ATen arithmetic to operations that arithmetic.py can write."""

from __future__ import annotations

import math
from typing import Any

from warpwright.compose.errors import CannotCompose
from warpwright.compose.frontend.lowering.lower import HANDLERS, Lowering, handles
from warpwright.compose.ir.operations import Axis, Op, Rounded
from warpwright.compose.ir.values import BOOL, FLOAT, INT, Value

UNARY = {
    str(op): op
    for op in (
        *(Op.EXP, Op.EXP2, Op.EXPM1, Op.LOG, Op.LOG2, Op.LOG1P, Op.SQRT, Op.RSQRT),
        *(Op.ERF, Op.TANH, Op.SIN, Op.COS, Op.SIGMOID, Op.RELU),
        *(Op.ABS, Op.NEG, Op.SIGN, Op.RECIPROCAL, Op.FLOOR, Op.CEIL, Op.ROUND),
    )
}
BINARY = {str(op): op for op in (Op.MUL, Op.DIV, Op.MAXIMUM, Op.MINIMUM, Op.ATAN2)}
COMPARISONS = {str(op): op for op in (Op.EQ, Op.NE, Op.LT, Op.LE, Op.GT, Op.GE)}
LOGICAL = {"logical_and": Op.AND, "logical_or": Op.OR, "bitwise_and": Op.AND, "bitwise_or": Op.OR}


def _unary(low: Lowering, x: Value) -> Value:
    op = UNARY[low.stem]
    return low.graph.pointwise(op, x, dtype=low.result_dtype)


def _binary(low: Lowering, a: Any, b: Any) -> Value:
    op = BINARY[low.stem]
    left, right = low.value(a), low.value(b)
    if op is Op.DIV:
        left, right = _floating(low, left), _floating(low, right)
    return low.graph.pointwise(op, left, right, dtype=low.result_dtype)


def _floating(low: Lowering, value: Value) -> Value:
    return value if value.kind == FLOAT else low.graph.make(Op.TO_FLOAT, [value], value.shape)


def _compare(low: Lowering, a: Any, b: Any) -> Value:
    op = COMPARISONS[low.stem]
    return low.graph.pointwise(op, low.value(a), low.value(b), kind=BOOL, dtype="bool")


def _logical(low: Lowering, a: Any, b: Any) -> Value:
    if low.result_kind != BOOL:
        raise CannotCompose(low.operation)
    op = LOGICAL[low.stem]
    return low.graph.pointwise(op, low.value(a), low.value(b), kind=BOOL, dtype="bool")


HANDLERS.update(dict.fromkeys(UNARY, _unary))
HANDLERS.update(dict.fromkeys(BINARY, _binary))
HANDLERS.update(dict.fromkeys(COMPARISONS, _compare))
HANDLERS.update(dict.fromkeys(LOGICAL, _logical))


@handles("sym_float")
def _number(low: Lowering, size: Value) -> Value:
    """A size as a float, computed on the host."""
    return _floating(low, size)


@handles("truediv")
def _quotient(low: Lowering, a: Any, b: Any) -> Value:
    return low.graph.pointwise(Op.DIV, *(_floating(low, low.value(item)) for item in (a, b)))


@handles("sym_sqrt", "_sym_sqrt")
def _root(low: Lowering, a: Any) -> Value:
    return low.graph.pointwise(Op.SQRT, _floating(low, low.value(a)))


@handles("add", "sub")
def _add(low: Lowering, a: Any, b: Any, alpha: Any = 1) -> Value:
    left, right = low.value(a), low.value(b)
    if alpha != 1:
        right = low.graph.pointwise(Op.MUL, right, low.value(alpha))
    return low.graph.pointwise(Op(low.stem), left, right, dtype=low.result_dtype)


@handles("logical_not", "bitwise_not")
def _not(low: Lowering, a: Value) -> Value:
    if a.kind != BOOL:
        raise CannotCompose(low.operation)
    return low.graph.pointwise(Op.NOT, a, kind=BOOL, dtype="bool")


@handles("isnan")
def _is_nan(low: Lowering, x: Value) -> Value:
    return low.graph.pointwise(Op.NE, x, x, kind=BOOL, dtype="bool")


@handles("isinf")
def _is_infinite(low: Lowering, x: Value) -> Value:
    size = low.graph.pointwise(Op.ABS, x)
    return low.graph.pointwise(Op.EQ, size, low.graph.constant(math.inf), kind=BOOL, dtype="bool")


@handles("pow")
def _power(low: Lowering, base: Any, exponent: Any) -> Value:
    x = low.value(base)
    if isinstance(exponent, int | float) and exponent in (0.5, 1, 2, 3):
        if exponent == 0.5:
            return low.graph.pointwise(Op.SQRT, x)
        product = x
        for _ in range(int(exponent) - 1):
            product = low.graph.pointwise(Op.MUL, product, x)
        return product
    return low.graph.pointwise(Op.POW, _floating(low, x), _floating(low, low.value(exponent)))


@handles("where.self")
def _where(low: Lowering, condition: Value, a: Any, b: Any) -> Value:
    return low.graph.pointwise(Op.WHERE, condition, low.value(a), low.value(b), kind=low.result_kind)


@handles("clamp", "clamp_min", "clamp_max")
def _clamp(low: Lowering, x: Value, low_bound: Any = None, high_bound: Any = None, **named: Any) -> Value:
    least, most = named.get("min", low_bound), named.get("max", high_bound)
    if low.operation.startswith("aten.clamp_max"):
        least, most = None, low_bound
    for op, bound in ((Op.MAXIMUM, least), (Op.MINIMUM, most)):
        x = x if bound is None else low.graph.pointwise(op, x, low.value(bound), dtype=low.result_dtype)
    return x


@handles("hardtanh")
def _hard_tanh(low: Lowering, x: Value, least: float = -1.0, most: float = 1.0) -> Value:
    raised = low.graph.pointwise(Op.MAXIMUM, x, low.value(least), dtype=low.result_dtype)
    return low.graph.pointwise(Op.MINIMUM, raised, low.value(most), dtype=low.result_dtype)


@handles("_to_copy", "clone", "alias", "detach", "lift_fresh_copy", "contiguous", "copy")
def _same(low: Lowering, x: Value, *_: Any, **options: Any) -> Value:
    """A conversion: values are rounded when stored, so only a change of kind is an operation."""
    dtype = low.result_dtype
    if low.operation == "aten.copy":
        raise CannotCompose(low.operation)
    if low.result_kind == x.kind or x.op is Op.CONSTANT:
        return _narrowed(low, x, dtype)
    names = {FLOAT: Op.TO_FLOAT, INT: Op.TO_INT, BOOL: Op.TO_BOOL}
    return low.graph.pointwise(names[low.result_kind], x, kind=low.result_kind, dtype=dtype)


def _narrowed(low: Lowering, x: Value, dtype: str) -> Value:
    """A conversion to 8 bits, which rounds even if the value is not stored."""
    if dtype in ("e4m3", "e5m2", "int8", "uint8", "int16") and x.dtype != dtype:
        return low.graph.make(Op.NARROW, [x], x.shape, Rounded(dtype), x.kind, dtype)
    return x


@handles("full", "full_like", "scalar_tensor", "zeros", "ones", "zeros_like", "ones_like", "empty.memory_format")
def _full(low: Lowering, *args: Any, **options: Any) -> Value:
    name = low.operation.removeprefix("aten.")
    filled: Any = 0 if name.startswith(("zeros", "empty")) else 1
    if name.startswith("full"):
        filled = args[1]
    elif name.startswith("scalar_tensor"):
        filled = args[0]
    if low.result_kind == FLOAT and isinstance(filled, int) and not isinstance(filled, bool):
        filled = float(filled)
    return low.graph.broadcast(low.value(filled), low.result_shape)


@handles("arange", "arange.start_step", "iota")
def _arange(low: Lowering, *args: Any, **options: Any) -> Value:
    start, step = (args[0], args[2] if len(args) > 2 else 1) if len(args) > 1 else (0, 1)
    if start != 0 or step != 1 or low.result_kind != INT:
        raise CannotCompose(f"{low.operation} with a start or a step")
    return low.graph.make(Op.POSITION, (), low.result_shape, Axis(0), INT, "int64")


@handles("leaky_relu")
def _leaky(low: Lowering, x: Value, slope: float = 0.01) -> Value:
    positive = low.graph.pointwise(Op.GT, x, low.graph.constant(0.0), kind=BOOL)
    return low.graph.pointwise(Op.WHERE, positive, x, low.graph.pointwise(Op.MUL, x, low.graph.constant(slope)))


@handles("elu")
def _elu(low: Lowering, x: Value, alpha: float = 1.0, scale: float = 1.0, input_scale: float = 1.0) -> Value:
    make, constant = low.graph.pointwise, low.graph.constant
    positive = make(Op.GT, x, constant(0.0), kind=BOOL)
    below = make(Op.MUL, make(Op.EXPM1, make(Op.MUL, x, constant(float(input_scale)))), constant(float(alpha * scale)))
    return make(Op.WHERE, positive, make(Op.MUL, x, constant(float(scale))), below)


@handles("gelu")
def _gelu(low: Lowering, x: Value, approximate: str = "none") -> Value:
    make, constant = low.graph.pointwise, low.graph.constant
    half = make(Op.MUL, x, constant(0.5))
    if approximate == "none":
        return make(Op.MUL, half, make(Op.ADD, make(Op.ERF, make(Op.MUL, x, constant(math.sqrt(0.5)))), constant(1.0)))
    cube = make(Op.MUL, make(Op.MUL, x, x), x)
    inner = make(Op.MUL, make(Op.ADD, x, make(Op.MUL, cube, constant(0.044715))), constant(math.sqrt(2 / math.pi)))
    return make(Op.MUL, half, make(Op.ADD, make(Op.TANH, inner), constant(1.0)))
