"""Lowers views, selections and reductions."""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from dataclasses import replace
from typing import Any

from warpwright.compose.errors import CannotCompose
from warpwright.compose.frontend.lowering.lower import Lowering, dimension, dimensions, handles
from warpwright.compose.ir.operations import Axis, Flipped, LibraryCall, Op, Reduced, Routine, Scanned, Sliced
from warpwright.compose.ir.sizes import Size
from warpwright.compose.ir.values import BOOL, FLOAT, INT, Value


@handles("view", "reshape", "_unsafe_view", "unsqueeze", "squeeze", "squeeze.dims", "squeeze.dim", "flatten")
def _reshape(low: Lowering, x: Value, *_: Any) -> Value:
    return low.graph.reshape(x, low.result_shape)


@handles("expand")
def _expand(low: Lowering, x: Value, *_: Any, **__: Any) -> Value:
    return low.graph.broadcast(x, low.result_shape)


@handles("permute", "transpose", "t")
def _permute(low: Lowering, x: Value, *dims: Any) -> Value:
    order = list(range(len(x.shape)))
    if low.operation == "aten.permute":
        order = [dimension(x, dim) for dim in dims[0]]
    else:
        a, b = (dimension(x, dim) for dim in (dims or (0, 1)))
        order[a], order[b] = b, a
    if isinstance(x.attrs, LibraryCall) and x.attrs.routine is Routine.MM and order == [1, 0]:
        return _transposed_product(low, x, x.attrs)
    return low.graph.permute(x, order)


def _transposed_product(low: Lowering, product: Value, call: LibraryCall) -> Value:
    """The product of the transposes the other way round, which comes out contiguous."""
    a, b = product.args
    flipped = [low.graph.permute(b, [1, 0]), low.graph.permute(a, [1, 0])]
    shape = (product.shape[1], product.shape[0])
    return low.graph.make(Op.LIBRARY, flipped, shape, replace(call, dtypes=call.dtypes[::-1]), dtype=product.dtype)


@handles("slice")
def _slice(low: Lowering, x: Value, dim: int = 0, start: Any = 0, end: Any = None, step: Any = 1) -> Value:
    shape = low.result_shape
    if shape == x.shape:
        return x
    if step != 1:
        raise CannotCompose("aten.slice with a step")
    return sliced(low, x, dimension(x, dim), low.size(0 if start is None else start), shape)


def sliced(low: Lowering, x: Value, dim: int, start: Size, shape: Sequence[Size]) -> Value:
    """A slice of one dimension, with the length in the shape."""
    if any(value < 0 for value in start.values):
        start = low.graph.cases.size(f"{x.shape[dim].text} - {start.text.lstrip('-')}")
    if x.op is Op.CAT and x.attrs == Axis(dim) and (parts := _parts_within(low, x, dim, start, shape[dim])):
        return low.graph.make(Op.CAT, parts, tuple(shape), Axis(dim), x.kind, x.dtype)
    return low.graph.make(Op.SLICE, [x], tuple(shape), Sliced(dim, start), x.kind, x.dtype)


def _parts_within(low: Lowering, x: Value, dim: int, start: Size, length: Size) -> list[Value] | None:
    """The sliced parts of a concatenation, if each is cut in the same way in every case."""
    nothing = before = low.graph.cases.size(0)
    found = []
    for part in x.args:
        extent = part.shape[dim]
        first = _one_of(nothing, start - before, max)
        last = _one_of(extent, start + length - before, min)
        if first is None or last is None:
            return None
        if any(begin < end for begin, end in zip(first.values, last.values, strict=True)):
            left = last - first
            shape = tuple(left if axis == dim else whole for axis, whole in enumerate(part.shape))
            found.append(part if left == extent else sliced(low, part, dim, first, shape))
        before = before + extent
    return found


def _one_of(one: Size, other: Size, chosen: Callable[[int, int], int]) -> Size | None:
    """The larger or smaller of two sizes, if it is the same in every case."""
    wanted = tuple(map(chosen, one.values, other.values))
    return next((size for size in (one, other) if size.values == wanted), None)


@handles("slice_scatter")
def _slice_scatter(low: Lowering, x: Value, source: Value, *_: Any) -> Value:
    if source.shape != low.result_shape:
        raise CannotCompose("aten.slice_scatter")
    return source


@handles("select")
def _select(low: Lowering, x: Value, dim: int, index: Any) -> Value:
    dim = dimension(x, dim)
    kept = tuple(low.graph.cases.one() if position == dim else size for position, size in enumerate(x.shape))
    return low.graph.reshape(sliced(low, x, dim, low.size(index), kept), low.result_shape)


@handles("split_with_sizes", "split", "chunk", "unbind")
def _split(low: Lowering, x: Value, lengths: Any, dim: int = 0) -> list[Value]:
    dim, start = dimension(x, dim), low.graph.cases.size(0)
    parts = []
    for tensor in low.node.meta["val"]:
        shape = low.shape_of(tensor)
        parts.append(sliced(low, x, dim, start, shape))
        total = f"{start.text} + {shape[dim].text}" if start.text != "0" else shape[dim].text
        start = low.graph.cases.size(total)
    return parts


@handles("getitem")
def _item(low: Lowering, parts: Any, index: int) -> Any:
    return parts[index]


@handles("cat")
def _cat(low: Lowering, parts: list[Value], dim: int = 0) -> Value:
    """Lowers a concatenation; constant parts get a shape."""
    shapes = [low.shape_of(node.meta["val"]) for node in low.node.args[0]]
    filled = [_spread_out(low, part, shape) for part, shape in zip(parts, shapes, strict=True)]
    axis = dim + len(shapes[0]) if dim < 0 else dim
    return low.graph.make(Op.CAT, filled, low.result_shape, Axis(axis), parts[0].kind, low.result_dtype)


def _spread_out(low: Lowering, part: Value, shape: Sequence[Size]) -> Value:
    if part.shape:
        return part
    single = low.graph.make(Op.RESHAPE, [part], (low.graph.cases.one(),) * len(shape), None, part.kind, part.dtype)
    return low.graph.broadcast(single, tuple(shape))


@handles("flip")
def _flip(low: Lowering, x: Value, dims: Sequence[int]) -> Value:
    flipped = Flipped(tuple(dimensions(x, list(dims))))
    if x.op is Op.FLIP and x.attrs == flipped:
        return x.first
    if isinstance(x.attrs, Scanned) and x.first.attrs == flipped == Flipped((len(x.shape) - 1,)):
        turned = replace(x.attrs, reverse=not x.attrs.reverse)
        return low.graph.make(Op.SCAN, [x.first.first], x.shape, turned, dtype=x.dtype)
    return low.graph.make(Op.FLIP, [x], x.shape, flipped, x.kind, x.dtype)


@handles("gather")
def _gather(low: Lowering, x: Value, dim: int, index: Value, **_: Any) -> Value:
    return low.graph.make(Op.GATHER, [x, index], index.shape, Axis(dimension(x, dim)), x.kind, x.dtype)


@handles("embedding")
def _embedding(low: Lowering, table: Value, index: Value, *_: Any) -> Value:
    return low.graph.make(Op.ROWS_AT, [table, index], low.result_shape, None, table.kind, table.dtype)


@handles("index")
def _index(low: Lowering, x: Value, indices: Sequence[Any]) -> Value:
    """Lowers indexing of the first dimension by one index: rows of a table."""
    if len(indices) != 1 or indices[0].kind != INT:
        raise CannotCompose("aten.index with several indices")
    return low.graph.make(Op.ROWS_AT, [x, indices[0]], low.result_shape, None, x.kind, x.dtype)


def reduced(low: Lowering, op: Op, x: Value, dims: Any, keepdim: bool, kind: str = FLOAT) -> Value:
    """Reduces any dimensions, after permuting them to the end."""
    listed = dimensions(x, dims)
    shape = tuple(size for position, size in enumerate(x.shape) if position not in listed)
    if keepdim:
        one = low.graph.cases.one()
        shape = tuple(one if position in listed else size for position, size in enumerate(x.shape))
    if op in (Op.SUM, Op.AMAX, Op.AMIN, Op.PROD) and all(x.shape[position].is_one for position in listed):
        return low.graph.reshape(x, shape)
    kept = [position for position in range(len(x.shape)) if position not in listed]
    return low.graph.reshape(_over(low, op, x, kept, listed, kind), shape)


def _over(low: Lowering, op: Op, x: Value, kept: list[int], listed: list[int], kind: str) -> Value:
    graph = low.graph
    leading = [p for p in listed if all(p < other for other in kept)]
    shape = tuple(x.shape[position] for position in kept)
    if not listed:
        return x
    if kept and len(leading) == len(listed) and op is Op.SUM:
        return graph.make(Op.COLUMNS, [x], shape, Reduced(len(listed)), kind, x.dtype)
    trailing = [p for p in listed if all(p > other for other in kept)]
    if kept and leading and trailing and len(leading) + len(trailing) == len(listed) and op is Op.SUM:
        inner = _over(low, op, x, [*leading, *kept], trailing, kind)
        return graph.make(Op.COLUMNS, [inner], shape, Reduced(len(leading)), kind, x.dtype)
    ordered = graph.permute(x, [*kept, *listed])
    return graph.make(op, [ordered], shape, Reduced(len(listed)), kind, x.dtype)


@handles("sum", "sum.dim_IntList")
def _sum(low: Lowering, x: Value, dims: Any = None, keepdim: bool = False, **_: Any) -> Value:
    if x.kind != BOOL:
        return reduced(low, Op.SUM, x, dims, keepdim, low.result_kind)
    counted = reduced(low, Op.SUM, low.graph.pointwise(Op.TO_FLOAT, x, kind=FLOAT), dims, keepdim)
    return counted if low.result_kind == FLOAT else low.graph.pointwise(Op.TO_INT, counted, kind=INT, dtype="int64")


@handles("mean", "mean.dim")
def _mean(low: Lowering, x: Value, dims: Any = None, keepdim: bool = False, **_: Any) -> Value:
    count = low.graph.cases.product(x.shape[position] for position in dimensions(x, dims))
    total = reduced(low, Op.SUM, x, dims, keepdim)
    return low.graph.pointwise(Op.DIV, total, low.graph.make(Op.TO_FLOAT, [low.graph.size(count)]))


@handles("amax", "amin", "prod")
def _extreme(low: Lowering, x: Value, dims: Any = None, keepdim: bool = False) -> Value:
    return reduced(low, Op(low.stem), x, dims, keepdim, x.kind)


@handles("any")
def _any(low: Lowering, x: Value, dims: Any = None, keepdim: bool = False) -> Value:
    """Lowers `any` to a maximum."""
    make = low.graph.pointwise
    true = x if x.kind == BOOL else make(Op.NE, x, low.graph.constant(0), kind=BOOL)
    largest = reduced(low, Op.AMAX, make(Op.TO_FLOAT, true, kind=FLOAT), dims, keepdim)
    return make(Op.GT, largest, low.graph.constant(0.0), kind=BOOL, dtype="bool")


@handles("max.dim", "min.dim")
def _extreme_and_place(low: Lowering, x: Value, dim: int, keepdim: bool = False) -> list[Value]:
    extreme, place = (Op.AMAX, Op.ARGMAX) if low.stem == "max" else (Op.AMIN, Op.ARGMIN)
    return [reduced(low, extreme, x, dim, keepdim, x.kind), reduced(low, place, x, dim, keepdim, INT)]


@handles("linalg_vector_norm")
def _norm(low: Lowering, x: Value, order: Any = 2, dims: Any = None, keepdim: bool = False, **_: Any) -> Value:
    make = low.graph.pointwise
    if order == 2:
        return make(Op.SQRT, reduced(low, Op.SUM, make(Op.MUL, x, x), dims, keepdim))
    if order not in (1, math.inf):
        raise CannotCompose(f"aten.linalg_vector_norm of order {order}")
    return reduced(low, Op.SUM if order == 1 else Op.AMAX, make(Op.ABS, x), dims, keepdim)


@handles("argmax", "argmin")
def _arg(low: Lowering, x: Value, dim: Any = None, keepdim: bool = False) -> Value:
    return reduced(low, Op(low.stem), x, dim, keepdim, INT)


@handles("var.correction", "var.dim", "var_mean.correction")
def _variance(low: Lowering, x: Value, dims: Any = None, correction: Any = 1, keepdim: bool = False) -> Any:
    make, graph = low.graph.pointwise, low.graph
    count = graph.cases.product(x.shape[position] for position in dimensions(x, dims))
    mean = make(Op.DIV, reduced(low, Op.SUM, x, dims, True), graph.make(Op.TO_FLOAT, [graph.size(count)]))
    centred = make(Op.SUB, x, mean)
    total = reduced(low, Op.SUM, make(Op.MUL, centred, centred), dims, keepdim)
    less = graph.cases.size(f"{count.text} - {int(correction)}") if correction else count
    variance = make(Op.DIV, total, graph.make(Op.TO_FLOAT, [graph.size(less)]))
    if low.operation.startswith("aten.var_mean"):
        return [variance, graph.reshape(mean, variance.shape)]
    return variance


@handles("_softmax", "_log_softmax")
def _softmax(low: Lowering, x: Value, dim: int, *_: Any) -> Value:
    make = low.graph.pointwise
    shifted = make(Op.SUB, x, reduced(low, Op.AMAX, x, [dim], True))
    powers = make(Op.EXP, shifted)
    total = reduced(low, Op.SUM, powers, [dim], True)
    if low.operation == "aten._softmax":
        return make(Op.DIV, powers, total)
    return make(Op.SUB, shifted, make(Op.LOG, total))


@handles("native_layer_norm")
def _layer_norm(low: Lowering, x: Value, shape: Sequence[Any], weight: Any, bias: Any, eps: float) -> list[Value]:
    make = low.graph.pointwise
    dims = list(range(len(x.shape) - len(shape), len(x.shape)))
    mean, rstd = _moments(low, x, dims, eps)
    normed = make(Op.MUL, make(Op.SUB, x, mean), rstd)
    normed = normed if weight is None else make(Op.MUL, normed, weight)
    return [normed if bias is None else make(Op.ADD, normed, bias), mean, rstd]


def _moments(low: Lowering, x: Value, dims: list[int], eps: float) -> tuple[Value, Value]:
    make, graph = low.graph.pointwise, low.graph
    count = graph.make(Op.TO_FLOAT, [graph.size(graph.cases.product(x.shape[position] for position in dims))])
    mean = make(Op.DIV, reduced(low, Op.SUM, x, dims, True), count)
    centred = make(Op.SUB, x, mean)
    variance = make(Op.DIV, reduced(low, Op.SUM, make(Op.MUL, centred, centred), dims, True), count)
    return mean, make(Op.RSQRT, make(Op.ADD, variance, low.value(eps)))


@handles("native_group_norm")
def _group_norm(
    low: Lowering, x: Value, weight: Any, bias: Any, n: Any, c: Any, hw: Any, groups: Any, eps: float
) -> list[Value]:
    make, graph = low.graph.pointwise, low.graph
    batch, channels, plane, count = (low.size(item) for item in (n, c, hw, groups))
    grouped = graph.reshape(x, (batch, count, channels // count * plane))
    mean, rstd = _moments(low, grouped, [2], eps)
    normed = graph.reshape(make(Op.MUL, make(Op.SUB, grouped, mean), rstd), (batch, channels, plane))
    one = graph.cases.one()
    normed = normed if weight is None else make(Op.MUL, normed, graph.reshape(weight, (channels, one)))
    normed = normed if bias is None else make(Op.ADD, normed, graph.reshape(bias, (channels, one)))
    flat = (batch, count)
    return [graph.reshape(normed, x.shape), graph.reshape(mean, flat), graph.reshape(rstd, flat)]


@handles("logsumexp")
def _logsumexp(low: Lowering, x: Value, dims: Any, keepdim: bool = False) -> Value:
    make = low.graph.pointwise
    largest = make(Op.FINITE, reduced(low, Op.AMAX, x, dims, True))
    total = reduced(low, Op.SUM, make(Op.EXP, make(Op.SUB, x, largest)), dims, True)
    return low.graph.reshape(make(Op.ADD, make(Op.LOG, total), largest), low.result_shape)
