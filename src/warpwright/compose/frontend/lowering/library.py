"""Lowers operations for libraries or special kernels: products, convolutions, scans, selections, updates."""

from __future__ import annotations

import itertools
import math
from collections.abc import Sequence
from typing import Any

from warpwright.compose.errors import CannotCompose
from warpwright.compose.frontend.lowering.lower import Lowering, dimension, handles
from warpwright.compose.frontend.lowering.shape import reduced, sliced
from warpwright.compose.ir.operations import Argument, LibraryCall, Op, Option, Routine, Scanned
from warpwright.compose.ir.values import FLOAT, INT, Value

MOST_TAPS = 25
"""The largest number of taps of an unrolled filter."""


def _library(
    low: Lowering, routine: Routine, args: Sequence[Value], options: tuple[Option, ...] = (), result: Any = None
) -> Value:
    """A library call. Its operands must have the types of the original function."""
    nodes = [item for item in low.node.all_input_nodes if hasattr(item.meta.get("val"), "dtype")]
    dtypes = {id(low.now[node.name]): low.dtype_of(node.meta["val"].dtype) for node in nodes}
    operand = tuple(dtypes.get(id(arg), arg.dtype) for arg in args)
    found = low.node.meta["val"] if result is None else result
    attrs = LibraryCall(routine, operand, options)
    return low.graph.make(Op.LIBRARY, args, low.shape_of(found), attrs, dtype=low.dtype_of(found.dtype))


@handles("mm", "bmm")
def _product(low: Lowering, a: Value, b: Value) -> Value:
    if low.operation == "aten.mm" and a.shape[0].is_one:
        return _single_row(low, a, b)
    return _library(low, Routine(low.stem), [a, b])


def _single_row(low: Lowering, row: Value, b: Value) -> Value:
    """A product with a single row as a sum along each row or column of the matrix in its memory layout."""
    graph = low.graph
    turned = b.op is Op.PERMUTE
    matrix = b.first if turned else b
    factor = graph.reshape(row, row.shape[1:] if turned else (row.shape[1], graph.cases.one()))
    total = reduced(low, Op.SUM, graph.pointwise(Op.MUL, matrix, factor), [int(turned)], keepdim=False)
    return graph.reshape(total, low.result_shape)


@handles("addmm")
def _add_product(low: Lowering, bias: Value, a: Value, b: Value, beta: Any = 1, alpha: Any = 1) -> Value:
    if beta != 1 or alpha != 1:
        raise CannotCompose("aten.addmm with factors")
    if a.shape[0].is_one:
        return low.graph.pointwise(Op.ADD, _single_row(low, a, b), bias, dtype=low.result_dtype)
    return _library(low, Routine.ADDMM, [bias, a, b])


@handles("convolution")
def _convolution(low: Lowering, x: Value, weight: Value, bias: Any, *geometry: Any) -> Value:
    options = _geometry(low, *geometry)
    if weight.shape[1].is_one and (sides := _few_taps(weight, options)):
        return _tap_by_tap(low, x, weight, bias, sides)
    return _library(low, Routine.CONVOLUTION, [x, weight] if bias is None else [x, weight, bias], options)


def _few_taps(weight: Value, options: tuple[Any, ...]) -> list[int] | None:
    """The sides of a small filter with stride 1 over a whole image."""
    sides = [side.constant for side in weight.shape[2:]]
    stride, padding, dilation, transposed, _, groups = options
    moves = all(size.is_one for size in (*stride, *dilation, groups)) and all(size.text == "0" for size in padding)
    known = [side for side in sides if side is not None]
    return known if moves and not transposed and len(known) == len(sides) and math.prod(known) <= MOST_TAPS else None


def _tap_by_tap(low: Lowering, x: Value, weight: Value, bias: Any, sides: Sequence[int]) -> Value:
    """Unrolls a single-channel convolution: sums the shifted image times one weight per output channel, for every
    tap."""
    graph, one, shape = low.graph, low.graph.cases.one(), low.result_shape
    planes = (weight.shape[0], *(one for _ in sides))
    total = graph.constant(0) if bias is None else graph.reshape(bias, planes)
    for taps in itertools.product(*map(range, sides)):
        image, tap = x, weight
        for dim, start in enumerate(map(graph.cases.size, taps), 2):
            image = sliced(low, image, dim, start, (*image.shape[:dim], shape[dim], *image.shape[dim + 1 :]))
            tap = sliced(low, tap, dim, start, (*tap.shape[:dim], one, *tap.shape[dim + 1 :]))
        total = graph.pointwise(Op.ADD, total, graph.pointwise(Op.MUL, image, graph.reshape(tap, planes)))
    return graph.make(total.op, total.args, total.shape, total.attrs, total.kind, low.result_dtype)


def _geometry(
    low: Lowering, stride: Any, padding: Any, dilation: Any, transposed: Any, extra: Any, groups: Any
) -> tuple[Any, ...]:
    lists = [tuple(low.size(item) for item in listed) for listed in (stride, padding, dilation)]
    return (*lists, bool(transposed), tuple(low.size(item) for item in extra), low.size(groups))


@handles("convolution_backward")
def _convolution_backward(
    low: Lowering, gradient: Value, x: Value, weight: Value, bias_sizes: Any, *others: Any
) -> list[Value | None]:
    """One call for each requested gradient, since the library runs a kernel for each; the bias gradient is a sum."""
    *geometry, wanted = others
    found: list[Value | None] = [None, None, None]
    for position in (number for number in (0, 1) if wanted[number]):
        options = None, *_geometry(low, *geometry), tuple(number == position for number in range(3))
        result = low.node.meta["val"][position]
        found[position] = _library(low, Routine.CONVOLUTION_BACKWARD, [gradient, x, weight], options, result)
    if wanted[2]:
        planes = [axis for axis in range(len(gradient.shape)) if axis != 1]
        found[2] = reduced(low, Op.SUM, gradient, planes, keepdim=False)
    return found


@handles("copy_")
def _overwrite(low: Lowering, target: Value, source: Value, *_: Any) -> Value:
    if target.op is not Op.INPUT or source.shape != target.shape:
        raise CannotCompose("aten.copy_ into a part of an argument")
    low.changed[target.attr(Argument).name] = source
    return source


@handles("cumsum", "cumprod")
def _running(low: Lowering, x: Value, dim: int, **_: Any) -> Value:
    """Scans along the last dimension; another dimension is permuted to the end and back."""
    if x.kind != FLOAT:
        raise CannotCompose(f"{low.operation} of integers")
    axis, last = dimension(x, dim), len(x.shape) - 1
    order = [*(other for other in range(last + 1) if other != axis), axis]
    rows = low.graph.permute(x, order)
    scanned = Scanned(multiplies=low.operation == "aten.cumprod")
    made = low.graph.make(Op.SCAN, [rows], rows.shape, scanned, dtype=low.result_dtype)
    return low.graph.permute(made, [order.index(position) for position in range(last + 1)])


@handles("index_put_")
def _put(low: Lowering, target: Value, places: Sequence[Any], source: Value, accumulate: bool = False) -> Value:
    if target.op is not Op.INPUT or accumulate or any(place is None or place.kind != INT for place in places):
        raise CannotCompose("aten.index_put_")
    shape = low.graph.common_shape(places)
    name = target.attr(Argument).name
    indices = [low.graph.broadcast(place, shape) for place in places]
    if len(source.shape) != len(shape) + len(target.shape) - len(places) or name in low.changed:
        raise CannotCompose("aten.index_put_")
    low.changed[name] = low.graph.make(Op.PUT, [source, *indices], source.shape)
    return target
