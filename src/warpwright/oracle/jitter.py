"""What an honest implementation at the task's own precision gives, seen several times.

The reference runs in its own dtypes, while every rounding is nudged by about one unit in the last place and every sum
is perturbed as one-after-another accumulation in fp32 would perturb it: the error of partial sum k weighs on all terms
before it, which is a random walk along the summed dimension, applied to the terms. Any order of summation and any
sound rounding is then within a small multiple of the spread; tf32 or bf16 in an fp32 task is not.
"""

from __future__ import annotations

import math
from typing import Any

import torch
from torch.utils._python_dispatch import TorchDispatchMode
from torch.utils._pytree import tree_map

ROUNDED_STEP = {torch.float64: 1.0, torch.float32: 1.0, torch.float16: 0.6, torch.bfloat16: 0.6}
_ACCUMULATION_STEP = 0.4  # rms error of one addition, in units of half an epsilon
_LONGEST_CHAIN = 4096  # no sensible kernel adds more terms than this one after another
_EIGHT_BITS = (torch.float8_e4m3fn, torch.float8_e5m2)

# Which argument holds the terms, by operation.
_TERMS = {
    "sum": 0, "mean": 0, "var": 0, "var_mean": 0, "linalg_vector_norm": 0, "cumsum": 0, "logcumsumexp": None,
    "mm": 0, "bmm": 0, "mv": 0, "dot": 0, "addmm": 1, "baddbmm": 1, "addmv": 1,
    "convolution": 0, "convolution_backward": 0, "embedding_dense_backward": 0, "prod": None,
}  # fmt: skip
_PRODUCTS = {"mm", "bmm", "mv", "dot", "addmm", "baddbmm", "addmv", "convolution", "convolution_backward"}
_ROW_WISE = {"_softmax", "_log_softmax", "native_layer_norm", "native_group_norm", "native_batch_norm", "logsumexp"}
_EXACT = {
    "relu", "neg", "abs", "clone", "copy_", "where", "gather", "index", "index_select", "cat", "stack", "amax", "amin",
    "max", "min", "maximum", "minimum", "clamp", "clamp_min", "clamp_max", "embedding", "_to_copy", "constant_pad_nd",
    "max_pool2d_with_indices", "sort", "topk", "argmax", "argmin", "sign", "sgn", "floor", "ceil", "round", "detach",
    "threshold_backward", "masked_fill", "masked_fill_", "scatter", "fill_", "zero_", "tril", "triu", "roll", "flip",
    "repeat", "full", "full_like", "zeros", "zeros_like", "ones", "ones_like", "empty", "empty_like", "arange", "alias",
    "scalar_tensor", "lift_fresh", "slice_backward", "select_backward", "new_zeros", "new_full", "new_empty",
    "index_put_", "scatter_", "empty_strided", "select_scatter", "slice_scatter", "new_empty_strided", "bernoulli",
    "isnan", "isinf",
}  # fmt: skip


class Jitter(TorchDispatchMode):
    """Runs each operation as some honest implementation might round it."""

    def __init__(self, seed: int, tf32: bool = False) -> None:
        super().__init__()
        self._seed, self._tf32 = seed, tf32
        self._generators: dict[torch.device, torch.Generator] = {}

    def __torch_dispatch__(self, func: Any, types: Any, args: Any = (), kwargs: Any = None) -> Any:
        name, options = func.overloadpacket.__name__, kwargs or {}
        if options.get("dtype") in _EIGHT_BITS:  # rounding to eight bits is judged by the comparator
            options = {**options, "dtype": torch.float32}
        if name in _TERMS:
            return self._accumulated(func, name, args, options)
        out = func(*args, **options)
        if func.is_view or name in _EXACT:
            return out
        if name.endswith("_"):
            return out.copy_(self._nudged(out, False)) if _is_float(out) else out
        return tree_map(lambda value: self._nudged(value, name in _ROW_WISE), out)

    def _accumulated(self, func: Any, name: str, args: Any, options: dict[str, Any]) -> Any:
        """Sums and products: 16-bit operands are accumulated in fp32 and rounded once, as hardware does."""
        narrow = next((arg.dtype for arg in args if _is_narrow(arg)), None)
        if narrow is not None:
            args = tree_map(lambda value: value.float() if _is_narrow(value) else value, args)
        if name in _PRODUCTS and self._tf32:
            args = tree_map(to_tf32, args)
        position = _TERMS[name]
        if position is not None:
            args = (*args[:position], self._walked(args[position], name, args), *args[position + 1 :])
        out = func(*args, **options)
        if narrow is not None and options.get("dtype") is None:
            out = tree_map(lambda value: value.to(narrow) if _is_float(value) else value, out)
        return tree_map(lambda value: self._nudged(value, False), out)

    def _walked(self, terms: Any, name: str, args: Any) -> Any:
        if not _is_float(terms) or terms.dim() == 0:
            return terms
        dim, length = _summed(terms, name, args)
        step = _ACCUMULATION_STEP * torch.finfo(terms.dtype).eps / 2
        step *= math.sqrt(min(length, _LONGEST_CHAIN) / max(terms.shape[dim], 1))
        walk = torch.randn(terms.shape, generator=self._generator(terms.device), device=terms.device).cumsum(dim)
        return terms * (1 + walk.to(terms.dtype) * step)

    def _nudged(self, value: Any, row_wise: bool) -> Any:
        if not _is_float(value) or value.dtype not in ROUNDED_STEP:
            return value
        step = ROUNDED_STEP[value.dtype] * torch.finfo(value.dtype).eps
        factor = 1 + self._uniform(value.shape, value.device) * step
        if row_wise and value.dim():
            chain = min(value.shape[-1], _LONGEST_CHAIN)
            factor += self._uniform((*value.shape[:-1], 1), value.device) * math.sqrt(chain) * 2.0**-24
        return (value * factor).to(value.dtype)

    def _uniform(self, shape: Any, device: torch.device) -> torch.Tensor:
        return torch.rand(shape, generator=self._generator(device), device=device, dtype=torch.float64) * 2 - 1

    def _generator(self, device: torch.device) -> torch.Generator:
        if device not in self._generators:
            self._generators[device] = torch.Generator(device).manual_seed(self._seed)
        return self._generators[device]


def to_tf32(value: Any) -> Any:
    """Rounds fp32 to the ten mantissa bits that tensor cores keep of it."""
    if not isinstance(value, torch.Tensor) or value.dtype is not torch.float32:
        return value
    bits = value.contiguous().view(torch.int32)
    return ((bits + 0x1000) & ~0x1FFF).view(torch.float32)


def _summed(terms: torch.Tensor, name: str, args: Any) -> tuple[int, int]:
    """The dimension the walk runs along, and how many terms each result adds up."""
    if name.startswith("convolution"):
        return (1, math.prod(args[1].shape[1:])) if terms.dim() > 1 else (0, terms.numel())
    if name in _PRODUCTS or name == "cumsum":
        return terms.dim() - 1, terms.shape[-1]
    dims = args[1] if len(args) > 1 and isinstance(args[1], list | tuple) and args[1] else range(terms.dim())
    longest = max(dims, key=lambda dim: terms.shape[dim])
    return longest % terms.dim(), math.prod(terms.shape[dim] for dim in dims)


def _is_float(value: Any) -> bool:
    return isinstance(value, torch.Tensor) and value.is_floating_point()


def _is_narrow(value: Any) -> bool:
    return isinstance(value, torch.Tensor) and value.dtype in (torch.float16, torch.bfloat16)
