"""Runs the reference in its own precision with perturbed rounding, as another honest implementation would round.

The reference runs in its own dtypes, while every rounding is perturbed by about one unit in the last place. Every sum
is perturbed as by sequential accumulation in fp32: the error of partial sum k affects all terms before it, which is a
random walk along the summed dimension, applied to the terms. Any order of summation and any sound rounding is then
within a small multiple of the spread; TF32 or bf16 in an fp32 task is not.
"""

from __future__ import annotations

import math
import random
from collections.abc import Callable
from functools import partial
from typing import Any

import torch
from torch._decomp import decomposition_table
from torch.utils._pytree import tree_leaves, tree_map

from warpwright.oracle.truth import eight_bits
from warpwright.oracle.truth.modes import Mode

_NUDGE = 0.577  # RMS error of one operation in epsilons: CUDA's own functions are accurate to an ulp or two
_ACCUMULATION_STEP = 0.4  # RMS error of one addition in half epsilons
_LONGEST_CHAIN = 4096  # no reasonable kernel adds more terms sequentially
_ALL_BUT = 1 / 64  # in units of the last place: errors in fp32 are smaller and never turn an honest rounding
_MIXING = ((16, -1, 0x7FEB352D), (16, 0xFFFF, 0x846CA68B - (1 << 32)), (15, 0x1FFFF, 1))  # shift, bits kept, factor
_SIXTEEN_BITS = (torch.float16, torch.bfloat16)
_CASTS = {"_to_copy", "to", "convert_element_type"}
_WEIGHTS = {"exp", "exp2", "_softmax"}
_SCALED_WEIGHTS = {"div", "mul"}

# The position of the argument with the terms, by operation.
_TERMS = {
    "sum": 0, "mean": 0, "var": 0, "var_mean": 0, "linalg_vector_norm": 0, "cumsum": 0, "logcumsumexp": None,
    "mm": 0, "bmm": 0, "mv": 0, "dot": 0, "addmm": 1, "baddbmm": 1, "addmv": 1,
    "convolution": 0, "convolution_backward": 0, "embedding_dense_backward": 0, "prod": None,
}  # fmt: skip
# The position of the argument that is added to the sum. Many kernels start with it, so that every addition rounds it.
_ADDENDS = {"addmm": 0, "baddbmm": 0, "addmv": 0, "convolution": 2}
_PRODUCTS = {"mm", "bmm", "mv", "dot", "addmm", "baddbmm", "addmv", "convolution", "convolution_backward"}
# Decomposed, so that cancellation inside shows and their sums are treated as all others.
_COMPOUND = {
    "silu", "silu_backward", "gelu", "gelu_backward", "_softmax", "_softmax_backward_data", "_log_softmax", "logsumexp",
    "_log_softmax_backward_data", "native_layer_norm", "native_layer_norm_backward", "native_group_norm",
    "native_group_norm_backward", "nll_loss_forward", "nll_loss_backward", "native_batch_norm",
    "native_batch_norm_backward", "_native_batch_norm_legit", "_native_batch_norm_legit_functional",
    "_native_batch_norm_legit_no_training", "cudnn_batch_norm", "cudnn_batch_norm_backward",
}  # fmt: skip
_EXACT = {
    "relu", "neg", "abs", "clone", "copy_", "where", "gather", "index", "index_select", "cat", "stack", "amax",
    "amin", "max", "min", "maximum", "minimum", "clamp", "clamp_min", "clamp_max", "embedding", "_to_copy", "to",
    "constant_pad_nd", "max_pool2d_with_indices", "sort", "topk", "argmax", "argmin", "sign", "sgn", "floor", "ceil",
    "round", "detach", "threshold_backward", "masked_fill", "masked_fill_", "scatter", "fill_", "zero_", "tril",
    "triu", "roll", "flip", "repeat", "full", "full_like", "zeros", "zeros_like", "ones", "ones_like", "empty",
    "empty_like", "arange", "alias", "scalar_tensor", "lift_fresh", "slice_backward", "select_backward", "new_zeros",
    "new_full", "new_empty", "index_put_", "scatter_", "empty_strided", "select_scatter", "slice_scatter",
    "new_empty_strided", "bernoulli", "isnan", "isinf",
}  # fmt: skip


class Jitter(Mode):
    """Runs each operation with the rounding of some honest implementation."""

    def __init__(self, seed: int, tf32: bool = False, contrary: bool = False) -> None:
        """With `contrary`, rounds everything to 16 bits away from the nearest value: all unlikely roundings at once."""
        super().__init__()
        self._seed, self._tf32, self._contrary = seed, tf32, contrary
        self._generators: dict[torch.device, torch.Generator] = {}
        self._operations = 0

    def __torch_dispatch__(self, func: Any, types: Any, args: Any = (), kwargs: Any = None) -> Any:
        name, options = func.overloadpacket.__name__, kwargs or {}
        given, args = args, eight_bits.used(func, args)
        if (narrow := options.get("dtype")) in eight_bits.EIGHT_BITS:
            out = self._run(func, name, args, {**options, "dtype": torch.float32})
            return eight_bits.marked(func, given, narrow, out)
        if name in _CASTS and (dtype := _cast_to(args, options)) in _SIXTEEN_BITS:
            return self._rounded(args[0], dtype)
        out = _marked(self._run(func, name, args, options), name, args)
        return eight_bits.marked(func, given, None, out)

    def _run(self, func: Any, name: str, args: Any, options: dict[str, Any]) -> Any:
        if name in _COMPOUND:
            with self:
                return decomposition_table[func](*args, **options)
        if name in _TERMS:
            run = self._convolution_backward if name == "convolution_backward" else self._summed
            return tree_map(self._nudged, in_fp32(partial(run, func, name), args, options, self._rounded))
        if not moves_only(func):
            return tree_map(self._nudged, in_fp32(func, args, options, self._rounded))
        out = func(*args, **options)
        rounds_in_place = name.endswith("_") and name not in _EXACT and _is_float(out)
        return out.copy_(self._nudged(out)) if rounds_in_place else out

    def _summed(self, func: Any, name: str, *args: Any, **options: Any) -> Any:
        if name in _PRODUCTS and self._tf32:
            args = tree_map(to_tf32, args)
        position = _TERMS[name]
        if position is not None and _is_float(args[position]) and args[position].dim():
            terms, extent = args[position], _extent(args[position], name, args)
            repeats = 1.0 if name in _PRODUCTS else _repetition(terms, *extent)
            terms = self._walked(terms, *extent, repeats)
            args = (*args[:position], terms, *args[position + 1 :])
            if name in _ADDENDS and _is_float(addend := args[_ADDENDS[name]]):
                return self._begun_with(func(*args, **options), addend, name, extent[1])
        return func(*args, **options)

    def _begun_with(self, out: torch.Tensor, addend: torch.Tensor, name: str, length: int) -> torch.Tensor:
        """Returns the sum as if the addend had been its first term."""
        shaped = addend.view(-1, *[1] * (out.dim() - 2)) if name == "convolution" else addend
        noise = torch.randn(out.shape, generator=self._generator(out.device), device=out.device)
        step = _ACCUMULATION_STEP * math.sqrt(min(length, _LONGEST_CHAIN)) * torch.finfo(out.dtype).eps / 2
        return (out + shaped * noise * step).to(out.dtype)

    def _convolution_backward(self, func: Any, name: str, *args: Any) -> Any:
        """The gradient of the input sums over channels, those of weight and bias over batch and pixels."""
        gradient, *others, (of_input, of_weight, of_bias) = tree_map(to_tf32, args) if self._tf32 else args
        over_channels = self._walked(gradient, 1, gradient.shape[1] * math.prod(args[2].shape[2:]))
        pixels = gradient.transpose(0, 1).flatten(1)
        over_pixels = self._walked(pixels, 1, pixels.shape[1]).view_as(gradient.transpose(0, 1)).transpose(0, 1)
        grad_input, _, _ = func(over_channels, *others, [of_input, False, False])
        _, grad_weight, grad_bias = func(over_pixels, *others, [False, of_weight, of_bias])
        return grad_input, grad_weight, grad_bias

    def _walked(self, terms: torch.Tensor, dim: int, length: int, repeats: float | torch.Tensor = 1.0) -> torch.Tensor:
        stretch = math.sqrt(min(length, _LONGEST_CHAIN) / max(terms.shape[dim], 1))
        step = _ACCUMULATION_STEP * stretch * torch.finfo(terms.dtype).eps / 2
        walk = torch.randn(terms.shape, generator=self._generator(terms.device), device=terms.device).cumsum(dim)
        return (terms * (1 + walk * repeats * step)).to(terms.dtype)

    def _nudged(self, value: Any) -> Any:
        """Moves values up or down by the RMS of a rounding error, so that no element is lucky in every run."""
        if not _is_float(value) or value.dtype not in (torch.float32, torch.float64):
            return value
        step = _NUDGE * torch.finfo(value.dtype).eps
        # Allocated on the device: copying a number to a GPU would synchronise.
        up, down = (torch.full((), 1 + way * step, dtype=torch.float64, device=value.device) for way in (1, -1))
        return (value * torch.where(self._bits(value) >= 0, up, down)).to(value.dtype)

    def _rounded(self, value: torch.Tensor, dtype: torch.dtype) -> torch.Tensor:
        """Rounds to 16 bits, randomly up or down: if the error cancels later, its size is random.

        Values that are almost representable are rounded to the nearest, as in any arithmetic.
        """
        exact, nearest = value.to(torch.float64), value.to(dtype)
        unit = _unit(exact, dtype)
        off = exact - nearest.to(torch.float64)
        chance = 1.0 if self._contrary else off.abs() / unit
        # Some kernels round weights before they normalise them: that a normalised weight is representable then says
        # nothing of its error.
        least = 0.0 if self._contrary and _is_weight(value) else _ALL_BUT
        turned = (self._chance(value) < chance) & (off.abs() >= least * unit)
        other = torch.where(turned, nearest.to(torch.float64) + off.sign() * unit, nearest.to(torch.float64)).to(dtype)
        return torch.where(other.isfinite(), other, nearest)

    def _chance(self, value: torch.Tensor) -> torch.Tensor:
        """Random numbers between 0 and 1."""
        return (self._bits(value).to(torch.int64) & 0xFFFFFFFF).to(torch.float64) / 2**32

    def _bits(self, value: torch.Tensor) -> torch.Tensor:
        """Random bits, new for each operation but the same for equal values, which any implementation rounds alike."""
        self._operations += 1
        salt = random.Random(f"{self._seed} {self._operations}").getrandbits(31)
        mixed = value.to(torch.float32).contiguous().view(torch.int32) ^ salt
        for shift, kept, factor in _MIXING:  # in place, since this dominates the cost of an honest run of a large case
            mixed ^= (mixed >> shift).bitwise_and_(kept)
            mixed *= factor
        return mixed

    def _generator(self, device: torch.device) -> torch.Generator:
        if device not in self._generators:
            self._generators[device] = torch.Generator(device).manual_seed(self._seed)
        return self._generators[device]


def _marked(out: Any, name: str, args: Any) -> Any:
    """Marks a result as weights if it is an exponential, or weights multiplied or divided by something."""
    if isinstance(out, torch.Tensor) and (name in _WEIGHTS or (name in _SCALED_WEIGHTS and _is_weight(args[0]))):
        out.warpwright_weight = True  # type: ignore[attr-defined]
    return out


def _is_weight(value: Any) -> bool:
    return getattr(value, "warpwright_weight", False)


def _unit(value: torch.Tensor, dtype: torch.dtype) -> torch.Tensor:
    """The spacing of numbers of a dtype around each value."""
    _, exponent = torch.frexp(value)
    return torch.ldexp(torch.full_like(value, torch.finfo(dtype).eps), exponent - 1)


def _repetition(terms: torch.Tensor, dim: int, length: int) -> torch.Tensor:
    """The factor by which the error exceeds a random walk: equal terms are rounded alike, so that their errors add up.

    With a share f of the terms equal to each other, the error is about K * sqrt(sum of f squared) steps, which for K
    different terms is the sqrt(K) of the random walk. That sum is the probability that two terms are equal.
    """
    equal = [terms == terms.roll(shift, dim) for shift in (1, 3, 7, 31) if shift < terms.shape[dim]]
    if not equal:
        return torch.ones((), device=terms.device)
    chance = torch.stack(equal).to(torch.float32).mean(0).mean(dim, keepdim=True)
    return (chance * min(length, _LONGEST_CHAIN)).clamp_min(1.0).sqrt()


def to_tf32(value: Any) -> Any:
    """Rounds fp32 to the ten mantissa bits that tensor cores keep."""
    if not isinstance(value, torch.Tensor) or value.dtype is not torch.float32:
        return value
    bits = value.contiguous().view(torch.int32)
    return ((bits + 0x1000) & ~0x1FFF).view(torch.float32)


def in_fp32(
    call: Callable[..., Any],
    args: Any,
    options: dict[str, Any],
    rounded: Callable[[torch.Tensor, torch.dtype], torch.Tensor] = torch.Tensor.to,
) -> Any:
    """Computes 16-bit operands in fp32 and rounds the result once, as hardware does."""
    narrow = next((arg.dtype for arg in tree_leaves(args) if _is_narrow(arg)), None)
    if narrow is None:
        return call(*args, **options)
    out = call(*tree_map(_widened, args), **options)
    if options.get("dtype") is not None:
        return out
    return tree_map(lambda value: rounded(value, narrow) if _is_float(value) else value, out)


def _widened(value: Any) -> Any:
    """Widens operands, and dtype arguments that name their dtype."""
    if isinstance(value, torch.dtype):
        return torch.float32 if value in _SIXTEEN_BITS else value
    return value.float() if _is_narrow(value) else value


def _cast_to(args: Any, options: dict[str, Any]) -> Any:
    """Returns the dtype of a cast; None for one that only moves or copies."""
    return options.get("dtype") or next((arg for arg in args[1:] if isinstance(arg, torch.dtype)), None)


def moves_only(func: Any) -> bool:
    """Whether an operation leaves values unchanged, or writes to an argument."""
    name = func.overloadpacket.__name__
    return func.is_view or name in _EXACT or name.endswith("_")


def _extent(terms: torch.Tensor, name: str, args: Any) -> tuple[int, int]:
    """The dimension of the random walk, and the number of terms in each sum."""
    if name == "convolution":
        return 1, math.prod(args[1].shape[1:])
    if name in _PRODUCTS or name == "cumsum":
        return terms.dim() - 1, terms.shape[-1]
    dims = args[1] if len(args) > 1 and isinstance(args[1], list | tuple) and args[1] else range(terms.dim())
    longest = max(dims, key=lambda dim: terms.shape[dim])
    return longest % terms.dim(), math.prod(terms.shape[dim] for dim in dims)


def _is_float(value: Any) -> bool:
    return isinstance(value, torch.Tensor) and value.is_floating_point()


def _is_narrow(value: Any) -> bool:
    return isinstance(value, torch.Tensor) and value.dtype in _SIXTEEN_BITS
