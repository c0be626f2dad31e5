"""The cost of plan nodes other than launches: fills, copies and library operations."""

from __future__ import annotations

import math
from collections.abc import Sequence

from warpwright.core.dtypes import dtype_named
from warpwright.core.gpus.limit import matrix_peak
from warpwright.core.gpus.table import Gpu
from warpwright.core.launch.plan import Constant, Copy, Fill, Library, Memset, Node, Upload, View
from warpwright.emulate.cost.constants import Calibrated
from warpwright.emulate.cost.terms import Term, term_of

_PRODUCTS = ("gemm", "mm", "matmul", "linear", "dot", "mv", "baddbmm", "einsum")


def node_terms(node: Node, gpu: Gpu, constants: Calibrated) -> list[Term]:
    """The terms of a node: memory for all nodes, matrix units for products."""
    rate = gpu.bandwidth_gbs * 1e9 * constants.dram_efficiency
    moved = term_of("DRAM bandwidth", _moved(node), "bytes", rate)
    if not isinstance(node, Library):
        return [moved]
    peak = matrix_peak(gpu, _precision(node), tf32=False) * 1e12 * constants.library_efficiency
    return [moved, term_of("library products", operations(node), "operations", peak)]


def operations(node: Library) -> float:
    """The operations of a product, two for each multiplication and addition; 0 for other nodes."""
    name = node.operation.lower().partition(".")[0] if not node.operation.startswith("cublas") else "gemm"
    tensors = [view for view in node.inputs if isinstance(view, View) and len(view.shape) >= 2]
    outputs = node.outputs or tuple(tensors[:1])
    if not tensors or not outputs:
        return 0.0
    written = float(sum(math.prod(view.shape) for view in outputs))
    if name.startswith("conv"):
        weight = max(tensors[1:], key=lambda view: len(view.shape), default=tensors[0])
        return 2.0 * written * math.prod(weight.shape[1:])
    if any(word in name for word in _PRODUCTS):
        return 2.0 * written * _depth(tensors)
    return 0.0


def _depth(tensors: Sequence[View]) -> int:
    """The inner dimension: the last size of the left factor. The factors are the last of the tensors."""
    factors = tensors[-2:]
    return factors[0].shape[-1] if len(factors) == 2 else tensors[0].shape[-1]


def _precision(node: Library) -> str:
    views = [view for view in (*node.inputs, *node.outputs) if isinstance(view, View | Constant)]
    floating = [view.dtype for view in views if dtype_named(view.dtype).floating]
    return floating[0] if floating else "fp32"


def _moved(node: Node) -> float:
    match node:
        case Fill():
            return _bytes(node.target)
        case Memset():
            return float(node.bytes)
        case Upload():
            return float(len(node.data))
        case Copy():
            return 2.0 * node.bytes
        case Library():
            return sum(_bytes(view) for view in (*node.inputs, *node.outputs) if isinstance(view, View))
    return 0.0


def _bytes(view: View) -> float:
    return float(math.prod(view.shape) * dtype_named(view.dtype).bytes)
