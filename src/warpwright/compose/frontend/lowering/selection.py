"""Lowers windows, selections and scatters, which have special kernels."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from typing import Any

from warpwright.compose.errors import CannotCompose
from warpwright.compose.frontend.lowering.lower import Lowering, dimension, handles
from warpwright.compose.ir.operations import Axis, Op, Scattered, Selected, Window
from warpwright.compose.ir.values import BOOL, INT, Shape, Value, is_zero


@handles("max_pool2d_with_indices", "max_pool3d_with_indices")
def _largest(
    low: Lowering,
    x: Value,
    kernel: Sequence[Any],
    stride: Sequence[Any] = (),
    padding: Any = 0,
    dilation: Any = None,
    ceil_mode: bool = False,
) -> list[Value]:
    window = _geometry(low, kernel, stride, padding, dilation, ceil_mode)
    shape = _windows(low, x, window)
    largest = low.graph.make(Op.POOL, [x], shape, window, dtype=x.dtype)
    return [largest, low.graph.make(Op.POOL, [x], shape, replace(window, mode="at"), INT, "int64")]


@handles("avg_pool1d", "avg_pool2d", "avg_pool3d")
def _average(
    low: Lowering,
    x: Value,
    kernel: Sequence[Any],
    stride: Sequence[Any] = (),
    padding: Any = 0,
    ceil_mode: bool = False,
    include_pad: bool = True,
    divisor: Any = None,
) -> Value:
    if divisor is not None:
        raise CannotCompose(f"{low.operation} with a divisor")
    window = _geometry(low, kernel, stride, padding, None, ceil_mode)
    averaged = replace(window, mode="mean" if include_pad else "mean_inside")
    return low.graph.make(Op.POOL, [x], _windows(low, x, window), averaged, dtype=low.result_dtype)


def _geometry(low: Lowering, kernel: Any, stride: Any, padding: Any, dilation: Any, ceil: bool) -> Window:
    """Sizes of a window, the steps between windows, the padding, and the steps within one; for each axis."""
    if ceil:
        raise CannotCompose(f"{low.operation} with ceil_mode")
    given = [("kernel_size", kernel), ("stride", stride) if stride else ("kernel_size", kernel), ("padding", padding)]
    sides, strides, pads = (
        tuple(low.put_back(item, slot) for item in _for_each(listed, len(kernel))) for slot, listed in given
    )
    steps = _for_each(1 if dilation is None else dilation, len(kernel))
    within = tuple(low.size(1) if dilation is None else low.put_back(item, "dilation") for item in steps)
    return Window("max", sides, strides, pads, within)


def _for_each(listed: Any, axes: int) -> list[Any]:
    items = list(listed) if isinstance(listed, list | tuple) else [listed]
    return items * axes if len(items) == 1 else items


def _windows(low: Lowering, x: Value, window: Window) -> Shape:
    axes = len(window.sides)
    listed = window.sides, window.strides, window.padding, window.dilation
    extents = [
        low.graph.cases.size(
            f"({size.text} + 2*({pad.text}) - ({step.text})*(({kernel.text}) - 1) - 1) // ({stride.text}) + 1"
        )
        for size, kernel, stride, pad, step in zip(x.shape[-axes:], *listed, strict=True)
    ]
    return (*x.shape[:-axes], *extents)


@handles("topk")
def _highest(
    low: Lowering, x: Value, count: Any, dim: int = -1, largest: bool = True, in_order: bool = True
) -> list[Value]:
    if dimension(x, dim) != len(x.shape) - 1 or x.kind == BOOL:
        raise CannotCompose("aten.topk along another dimension than the last")
    many = low.size(count)
    shape = (*x.shape[:-1], many)
    return [
        low.graph.make(Op.TOPK, [x], shape, Selected("values", largest), x.kind, x.dtype),
        low.graph.make(Op.TOPK, [x], shape, Selected("indices", largest), INT, "int64"),
    ]


@handles("scatter_add", "scatter.src", "scatter")
def _scatter(low: Lowering, x: Value, dim: int, index: Value, source: Any) -> Value:
    """Lowers a scatter: one position per row becomes a comparison, several need scratch memory."""
    dim = dimension(index, dim)
    if not is_zero(x):
        raise CannotCompose(f"{low.operation} into something else than zeros")
    shape = low.result_shape
    if not index.shape[dim].is_one:
        return _scattered(low, shape, dim, index, low.value(source))
    make, graph = low.graph.pointwise, low.graph
    here = graph.make(Op.POSITION, (), shape, Axis(dim), INT, "int64")
    chosen = make(Op.EQ, here, graph.broadcast(index, shape), kind=BOOL)
    zero = graph.constant(0.0 if low.result_kind == "float" else 0)
    return make(Op.WHERE, chosen, graph.broadcast(low.value(source), shape), zero, kind=low.result_kind)


def _scattered(low: Lowering, shape: Shape, dim: int, index: Value, source: Value) -> Value:
    if dim != len(shape) - 1 or source.shape != index.shape or shape[:-1] != index.shape[:-1]:
        raise CannotCompose(f"{low.operation} along another dimension than the last")
    adds = low.operation.startswith("aten.scatter_add")
    return low.graph.make(Op.SCATTER, [index, source], shape, Scattered(adds), dtype=low.result_dtype)


@handles("index_put")
def _put_together(low: Lowering, x: Value, places: Sequence[Any], source: Value, accumulate: bool = False) -> Value:
    """Lowers an accumulating scatter of rows, such as the gradient of an embedding."""
    if not accumulate or not is_zero(x) or len(places) != 1 or places[0].kind != INT:
        raise CannotCompose("aten.index_put")
    shape = low.result_shape
    rows = low.graph.broadcast(source, (*places[0].shape, *shape[1:]))
    return low.graph.make(Op.LISTS, [places[0], rows], shape, dtype=low.result_dtype)
