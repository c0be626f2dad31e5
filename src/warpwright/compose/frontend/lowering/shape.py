"""Views, selections and reductions."""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from typing import Any

from warpwright.compose.errors import CannotCompose
from warpwright.compose.frontend.lowering.lower import Lowering, dimension, dimensions, handles
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
    if x.op == "library" and x.attrs[0] == "mm" and order == [1, 0]:
        return _transposed_product(low, x)
    return low.graph.permute(x, order)


def _transposed_product(low: Lowering, product: Value) -> Value:
    """The product of the transposes the other way round, which comes out contiguous."""
    (a, b), (name, dtypes, options) = product.args, product.attrs
    flipped = [low.graph.permute(b, [1, 0]), low.graph.permute(a, [1, 0])]
    shape = (product.shape[1], product.shape[0])
    return low.graph.make("library", flipped, shape, (name, dtypes[::-1], options), dtype=product.dtype)


@handles("slice")
def _slice(low: Lowering, x: Value, dim: int = 0, start: Any = 0, end: Any = None, step: Any = 1) -> Value:
    shape = low.result_shape
    if shape == x.shape:
        return x
    if step != 1:
        raise CannotCompose("aten.slice with a step")
    return sliced(low, x, dimension(x, dim), low.size(0 if start is None else start), shape)


def sliced(low: Lowering, x: Value, dim: int, start: Size, shape: Sequence[Size]) -> Value:
    """So much of one dimension as the shape has."""
    if any(value < 0 for value in start.values):
        start = low.graph.cases.size(f"{x.shape[dim].text} - {start.text.lstrip('-')}")
    if x.op == "cat" and x.attrs == (dim,) and (parts := _parts_within(low, x, dim, start, shape[dim])):
        return low.graph.make("cat", parts, tuple(shape), (dim,), x.kind, x.dtype)
    return low.graph.make("slice", [x], tuple(shape), (dim, start), x.kind, x.dtype)


def _parts_within(low: Lowering, x: Value, dim: int, start: Size, length: Size) -> list[Value] | None:
    """What is left of the parts of a concatenation, where each is cut in the same way in every case."""
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
    """The one of two sizes that is the larger, or the smaller, in every case."""
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
    """Parts that are one number throughout need a shape of their own here."""
    shapes = [low.shape_of(node.meta["val"]) for node in low.node.args[0]]
    filled = [_spread_out(low, part, shape) for part, shape in zip(parts, shapes, strict=True)]
    axis = dim + len(shapes[0]) if dim < 0 else dim
    return low.graph.make("cat", filled, low.result_shape, (axis,), parts[0].kind, low.result_dtype)


def _spread_out(low: Lowering, part: Value, shape: Sequence[Size]) -> Value:
    if part.shape:
        return part
    single = low.graph.make("reshape", [part], (low.graph.cases.one(),) * len(shape), (), part.kind, part.dtype)
    return low.graph.broadcast(single, tuple(shape))


@handles("flip")
def _flip(low: Lowering, x: Value, dims: Sequence[int]) -> Value:
    listed = tuple(dimensions(x, list(dims)))
    if x.op == "flip" and x.attrs == listed:
        return x.first
    if x.op == "scan" and x.first.op == "flip" and x.first.attrs == listed == (len(x.shape) - 1,):
        return low.graph.make("scan", [x.first.first], x.shape, (not x.attrs[0], *x.attrs[1:]), dtype=x.dtype)
    return low.graph.make("flip", [x], x.shape, listed, x.kind, x.dtype)


@handles("gather")
def _gather(low: Lowering, x: Value, dim: int, index: Value, **_: Any) -> Value:
    return low.graph.make("gather", [x, index], index.shape, (dimension(x, dim),), x.kind, x.dtype)


@handles("embedding")
def _embedding(low: Lowering, table: Value, index: Value, *_: Any) -> Value:
    return low.graph.make("rows_at", [table, index], low.result_shape, (), table.kind, table.dtype)


@handles("index")
def _index(low: Lowering, x: Value, indices: Sequence[Any]) -> Value:
    """Only a first dimension picked by one index: rows of a table."""
    if len(indices) != 1 or indices[0].kind != INT:
        raise CannotCompose("aten.index with several indices")
    return low.graph.make("rows_at", [x, indices[0]], low.result_shape, (), x.kind, x.dtype)


def reduced(low: Lowering, op: str, x: Value, dims: Any, keepdim: bool, kind: str = FLOAT) -> Value:
    """Over any dimensions: the reduced ones are brought to the end first."""
    listed = dimensions(x, dims)
    shape = tuple(size for position, size in enumerate(x.shape) if position not in listed)
    if keepdim:
        one = low.graph.cases.one()
        shape = tuple(one if position in listed else size for position, size in enumerate(x.shape))
    if op in ("sum", "amax", "amin", "prod") and all(x.shape[position].is_one for position in listed):
        return low.graph.reshape(x, shape)
    kept = [position for position in range(len(x.shape)) if position not in listed]
    return low.graph.reshape(_over(low, op, x, kept, listed, kind), shape)


def _over(low: Lowering, op: str, x: Value, kept: list[int], listed: list[int], kind: str) -> Value:
    graph = low.graph
    leading = [p for p in listed if all(p < other for other in kept)]
    shape = tuple(x.shape[position] for position in kept)
    if not listed:
        return x
    if kept and len(leading) == len(listed) and op == "sum":
        return graph.make("columns", [x], shape, (len(listed),), kind, x.dtype)
    trailing = [p for p in listed if all(p > other for other in kept)]
    if kept and leading and trailing and len(leading) + len(trailing) == len(listed) and op == "sum":
        inner = _over(low, op, x, [*leading, *kept], trailing, kind)
        return graph.make("columns", [inner], shape, (len(leading),), kind, x.dtype)
    ordered = graph.permute(x, [*kept, *listed])
    return graph.make(op, [ordered], shape, (len(listed),), kind, x.dtype)


@handles("sum", "sum.dim_IntList")
def _sum(low: Lowering, x: Value, dims: Any = None, keepdim: bool = False, **_: Any) -> Value:
    if x.kind != BOOL:
        return reduced(low, "sum", x, dims, keepdim, low.result_kind)
    counted = reduced(low, "sum", low.graph.pointwise("to_float", x, kind=FLOAT), dims, keepdim)
    return counted if low.result_kind == FLOAT else low.graph.pointwise("to_int", counted, kind=INT, dtype="int64")


@handles("mean", "mean.dim")
def _mean(low: Lowering, x: Value, dims: Any = None, keepdim: bool = False, **_: Any) -> Value:
    count = low.graph.cases.product(x.shape[position] for position in dimensions(x, dims))
    total = reduced(low, "sum", x, dims, keepdim)
    return low.graph.pointwise("div", total, low.graph.make("to_float", [low.graph.size(count)]))


@handles("amax", "amin", "prod")
def _extreme(low: Lowering, x: Value, dims: Any = None, keepdim: bool = False) -> Value:
    op = low.operation.removeprefix("aten.").partition(".")[0]
    return reduced(low, op, x, dims, keepdim, x.kind)


@handles("any")
def _any(low: Lowering, x: Value, dims: Any = None, keepdim: bool = False) -> Value:
    """Where one is true the largest is, in numbers."""
    make = low.graph.pointwise
    true = x if x.kind == BOOL else make("ne", x, low.graph.constant(0), kind=BOOL)
    largest = reduced(low, "amax", make("to_float", true, kind=FLOAT), dims, keepdim)
    return make("gt", largest, low.graph.constant(0.0), kind=BOOL, dtype="bool")


@handles("max.dim", "min.dim")
def _extreme_and_place(low: Lowering, x: Value, dim: int, keepdim: bool = False) -> list[Value]:
    way = low.operation.removeprefix("aten.").partition(".")[0]
    return [reduced(low, f"a{way}", x, dim, keepdim, x.kind), reduced(low, f"arg{way}", x, dim, keepdim, INT)]


@handles("linalg_vector_norm")
def _norm(low: Lowering, x: Value, order: Any = 2, dims: Any = None, keepdim: bool = False, **_: Any) -> Value:
    make = low.graph.pointwise
    if order == 2:
        return make("sqrt", reduced(low, "sum", make("mul", x, x), dims, keepdim))
    if order not in (1, math.inf):
        raise CannotCompose(f"aten.linalg_vector_norm of order {order}")
    return reduced(low, "sum" if order == 1 else "amax", make("abs", x), dims, keepdim)


@handles("argmax", "argmin")
def _arg(low: Lowering, x: Value, dim: Any = None, keepdim: bool = False) -> Value:
    return reduced(low, low.operation.removeprefix("aten."), x, dim, keepdim, INT)


@handles("var.correction", "var.dim", "var_mean.correction")
def _variance(low: Lowering, x: Value, dims: Any = None, correction: Any = 1, keepdim: bool = False) -> Any:
    make, graph = low.graph.pointwise, low.graph
    count = graph.cases.product(x.shape[position] for position in dimensions(x, dims))
    mean = make("div", reduced(low, "sum", x, dims, True), graph.make("to_float", [graph.size(count)]))
    centred = make("sub", x, mean)
    total = reduced(low, "sum", make("mul", centred, centred), dims, keepdim)
    less = graph.cases.size(f"{count.text} - {int(correction)}") if correction else count
    variance = make("div", total, graph.make("to_float", [graph.size(less)]))
    if low.operation.startswith("aten.var_mean"):
        return [variance, graph.reshape(mean, variance.shape)]
    return variance


@handles("_softmax", "_log_softmax")
def _softmax(low: Lowering, x: Value, dim: int, *_: Any) -> Value:
    make = low.graph.pointwise
    shifted = make("sub", x, reduced(low, "amax", x, [dim], True))
    powers = make("exp", shifted)
    total = reduced(low, "sum", powers, [dim], True)
    if low.operation == "aten._softmax":
        return make("div", powers, total)
    return make("sub", shifted, make("log", total))


@handles("native_layer_norm")
def _layer_norm(low: Lowering, x: Value, shape: Sequence[Any], weight: Any, bias: Any, eps: float) -> list[Value]:
    make = low.graph.pointwise
    dims = list(range(len(x.shape) - len(shape), len(x.shape)))
    mean, rstd = _moments(low, x, dims, eps)
    normed = make("mul", make("sub", x, mean), rstd)
    normed = normed if weight is None else make("mul", normed, weight)
    return [normed if bias is None else make("add", normed, bias), mean, rstd]


def _moments(low: Lowering, x: Value, dims: list[int], eps: float) -> tuple[Value, Value]:
    make, graph = low.graph.pointwise, low.graph
    count = graph.make("to_float", [graph.size(graph.cases.product(x.shape[position] for position in dims))])
    mean = make("div", reduced(low, "sum", x, dims, True), count)
    centred = make("sub", x, mean)
    variance = make("div", reduced(low, "sum", make("mul", centred, centred), dims, True), count)
    return mean, make("rsqrt", make("add", variance, low.value(eps)))


@handles("native_group_norm")
def _group_norm(
    low: Lowering, x: Value, weight: Any, bias: Any, n: Any, c: Any, hw: Any, groups: Any, eps: float
) -> list[Value]:
    make, graph = low.graph.pointwise, low.graph
    batch, channels, plane, count = (low.size(item) for item in (n, c, hw, groups))
    grouped = graph.reshape(x, (batch, count, channels // count * plane))
    mean, rstd = _moments(low, grouped, [2], eps)
    normed = graph.reshape(make("mul", make("sub", grouped, mean), rstd), (batch, channels, plane))
    one = graph.cases.one()
    normed = normed if weight is None else make("mul", normed, graph.reshape(weight, (channels, one)))
    normed = normed if bias is None else make("add", normed, graph.reshape(bias, (channels, one)))
    flat = (batch, count)
    return [graph.reshape(normed, x.shape), graph.reshape(mean, flat), graph.reshape(rstd, flat)]


@handles("logsumexp")
def _logsumexp(low: Lowering, x: Value, dims: Any, keepdim: bool = False) -> Value:
    make = low.graph.pointwise
    largest = make("finite", reduced(low, "amax", x, dims, True))
    total = reduced(low, "sum", make("exp", make("sub", x, largest)), dims, True)
    return low.graph.reshape(make("add", make("log", total), largest), low.result_shape)
