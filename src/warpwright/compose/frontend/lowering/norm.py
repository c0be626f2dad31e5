"""Lowers batch normalisation with batch statistics or running statistics."""

from __future__ import annotations

from typing import Any

from warpwright.compose.frontend.lowering.lower import Lowering, handles
from warpwright.compose.frontend.lowering.shape import reduced
from warpwright.compose.ir.operations import Op
from warpwright.compose.ir.values import Value


@handles("native_batch_norm", "_native_batch_norm_legit")
def _batch_norm(
    low: Lowering, x: Value, weight: Any, bias: Any, mean: Any, variance: Any, training: bool, momentum: Any, eps: Any
) -> list[Value]:
    if not training:
        return _normed(low, x, weight, bias, mean, variance, eps)
    found = _found(low, x)
    _remember(low, x, (mean, variance), found, momentum)
    return _normed(low, x, weight, bias, *found, eps)


@handles("_native_batch_norm_legit.no_stats")
def _by_own(low: Lowering, x: Value, weight: Any, bias: Any, _: bool, momentum: Any, eps: Any) -> list[Value]:
    return _normed(low, x, weight, bias, *_found(low, x), eps)


@handles("_native_batch_norm_legit_no_training")
def _by_earlier(
    low: Lowering, x: Value, weight: Any, bias: Any, mean: Value, variance: Value, momentum: Any, eps: Any
) -> list[Value]:
    return _normed(low, x, weight, bias, mean, variance, eps)


def _found(low: Lowering, x: Value) -> tuple[Value, Value]:
    """Mean and variance of every channel."""
    make, count = low.graph.pointwise, _count(low, x)
    dims = [axis for axis in range(len(x.shape)) if axis != 1]
    mean = make(Op.DIV, reduced(low, Op.SUM, x, dims, keepdim=False), count)
    centred = make(Op.SUB, x, _per_channel(low, x, mean))
    return mean, make(Op.DIV, reduced(low, Op.SUM, make(Op.MUL, centred, centred), dims, keepdim=False), count)


def _count(low: Lowering, x: Value, less: int = 0) -> Value:
    size = low.graph.cases.product(extent for axis, extent in enumerate(x.shape) if axis != 1)
    fewer = low.graph.cases.size(f"{size.text} - {less}") if less else size
    return low.graph.make(Op.TO_FLOAT, [low.graph.size(fewer)])


def _per_channel(low: Lowering, x: Value, value: Value) -> Value:
    one = low.graph.cases.one()
    return low.graph.reshape(value, (x.shape[1], *[one] * (len(x.shape) - 2)))


def _normed(low: Lowering, x: Value, weight: Any, bias: Any, mean: Value, variance: Value, eps: Any) -> list[Value]:
    """Combines per-channel factors first, to round only once."""
    make = low.graph.pointwise
    rstd = make(Op.RSQRT, make(Op.ADD, variance, low.value(eps)))
    scale = rstd if weight is None else make(Op.MUL, rstd, weight)
    normed = make(Op.MUL, make(Op.SUB, x, _per_channel(low, x, mean)), _per_channel(low, x, scale))
    normed = normed if bias is None else make(Op.ADD, normed, _per_channel(low, x, bias))
    return [normed, mean, rstd]


def _remember(low: Lowering, x: Value, kept: tuple[Any, Any], found: tuple[Value, Value], momentum: Any) -> None:
    """Updates running statistics with the batch's mean and unbiased variance."""
    make, share = low.graph.pointwise, low.value(momentum)
    mean, variance = found
    unbiased = make(Op.MUL, variance, make(Op.DIV, _count(low, x), _count(low, x, less=1)))
    for old, new in zip(kept, (mean, unbiased), strict=True):
        if old is not None:
            change = make(Op.MUL, make(Op.SUB, new, old), share)
            low.overwrite(old, make(Op.ADD, old, change, dtype=old.dtype))
