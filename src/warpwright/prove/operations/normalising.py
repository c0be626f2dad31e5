"""Softmax and normalisations, and their derivatives."""

from __future__ import annotations

import math
from typing import Any

import torch

from warpwright.prove.tensor import LiftedTensor, implements, lifted

Tensor = torch.Tensor


@implements("_softmax", "softmax", "_safe_softmax")
def softmax(func: Any, x: Tensor, dim: int, *_: Any) -> Tensor:
    powers = (x - x.amax(dim, keepdim=True)).exp()
    return powers / powers.sum(dim, keepdim=True)


@implements("_softmax_backward_data")
def softmax_backward(func: Any, grad: Tensor, y: Tensor, dim: int, dtype: Any) -> Tensor:
    return y * (grad - (grad * y).sum(dim, keepdim=True))


@implements("_log_softmax", "log_softmax")
def log_softmax(func: Any, x: Tensor, dim: int, *_: Any) -> Tensor:
    shifted = x - x.amax(dim, keepdim=True)
    return shifted - shifted.exp().sum(dim, keepdim=True).log()


@implements("_log_softmax_backward_data")
def log_softmax_backward(func: Any, grad: Tensor, y: Tensor, dim: int, dtype: Any) -> Tensor:
    return grad - y.exp() * grad.sum(dim, keepdim=True)


def _moments(x: Tensor, dims: list[int], eps: float) -> tuple[Tensor, Tensor]:
    average = x.mean(dims, keepdim=True)
    centred = x - average
    return average, 1 / ((centred * centred).mean(dims, keepdim=True) + eps).sqrt()


def _affine(x: Tensor, weight: Any, bias: Any) -> Tensor:
    scaled = x if weight is None else x * weight
    return scaled if bias is None else scaled + bias


def _standardised_backward(grad: Tensor, normed: Tensor, rstd: Tensor, dims: list[int]) -> Any:
    """The gradient of what was standardised over some dimensions."""
    along = (grad * normed).mean(dims, keepdim=True)
    return rstd * (grad - grad.mean(dims, keepdim=True) - normed * along)


@implements("native_layer_norm")
def layer_norm(func: Any, x: Tensor, shape: Any, weight: Any, bias: Any, eps: float) -> tuple[Tensor, Tensor, Tensor]:
    dims = list(range(x.dim() - len(shape), x.dim()))
    average, rstd = _moments(x, dims, eps)
    return _affine((x - average) * rstd, weight, bias), average, rstd


@implements("native_layer_norm_backward")
def layer_norm_backward(
    func: Any, grad: Tensor, x: Tensor, shape: Any, mean: Tensor, rstd: Tensor, weight: Any, bias: Any, wanted: Any
) -> Any:
    dims = list(range(x.dim() - len(shape), x.dim()))
    others = list(range(x.dim() - len(shape)))
    normed = (x - mean) * rstd
    arriving = grad if weight is None else grad * weight
    return (
        _standardised_backward(arriving, normed, rstd, dims) if wanted[0] else None,
        _summed(grad * normed, others) if wanted[1] else None,
        _summed(grad, others) if wanted[2] else None,
    )


def _summed(x: Tensor, dims: list[int]) -> Tensor:
    return x.sum(dims) if dims else x


@implements("_fused_rms_norm")
def rms_norm(func: Any, x: Tensor, shape: Any, weight: Any, eps: float | None) -> tuple[Tensor, Tensor]:
    dims = list(range(x.dim() - len(shape), x.dim()))
    tiny = torch.finfo(x.dtype).eps if eps is None else eps
    rstd = 1 / ((x * x).mean(dims, keepdim=True) + tiny).sqrt()
    return _affine(x * rstd, weight, None), rstd


@implements("_fused_rms_norm_backward")
def rms_norm_backward(func: Any, grad: Tensor, x: Tensor, shape: Any, rstd: Tensor, weight: Any, wanted: Any) -> Any:
    dims = list(range(x.dim() - len(shape), x.dim()))
    others = list(range(x.dim() - len(shape)))
    normed = x * rstd
    arriving = grad if weight is None else grad * weight
    along = (arriving * normed).mean(dims, keepdim=True)
    return rstd * (arriving - normed * along), _summed(grad * normed, others) if wanted[1] else None


@implements("native_group_norm")
def group_norm(
    func: Any, x: Tensor, weight: Any, bias: Any, batch: int, channels: int, spatial: int, groups: int, eps: float
) -> tuple[Tensor, Tensor, Tensor]:
    split = x.reshape(batch, groups, -1)
    average, rstd = _moments(split, [2], eps)
    normed = ((split - average) * rstd).reshape(x.shape)
    shown = _affine(normed, _per_channel(weight, x), _per_channel(bias, x))
    return shown, average.squeeze(2), rstd.squeeze(2)


def _per_channel(parameter: Any, x: Tensor) -> Any:
    return None if parameter is None else parameter.reshape(-1, *[1] * (x.dim() - 2))


@implements("native_group_norm_backward")
def group_norm_backward(
    func: Any,
    grad: Tensor,
    x: Tensor,
    mean: Tensor,
    rstd: Tensor,
    weight: Any,
    batch: int,
    channels: int,
    spatial: int,
    groups: int,
    wanted: Any,
) -> Any:
    spread = rstd.reshape(batch, groups, 1)
    normed = (x.reshape(batch, groups, -1) - mean.reshape(batch, groups, 1)) * spread
    arriving = grad if weight is None else grad * _per_channel(weight, x)
    back = _standardised_backward(arriving.reshape(batch, groups, -1), normed, spread, [2]).reshape(x.shape)
    others = [0, *range(2, x.dim())]
    return back, (grad * normed.reshape(x.shape)).sum(others), grad.sum(others)


@implements("native_batch_norm", "cudnn_batch_norm", "_native_batch_norm_legit", "_native_batch_norm_legit_functional")
def batch_norm(func: Any, x: Tensor, weight: Any, bias: Any, *rest: Any) -> Any:
    """The form without running statistics lacks them; the others update them in place when training."""
    running = rest[:2] if len(rest) == 5 else (None, None)
    training, momentum, eps = rest[-3:]
    if not training:
        shown = _normalised_by(x, running[0], running[1], weight, bias, eps)
        return shown, x.new_zeros(0), x.new_zeros(0)
    dims = [0, *range(2, x.dim())]
    average, rstd = _moments(x, dims, eps)
    if running[0] is not None:
        _update(x, dims, running, momentum)
    shown = _affine((x - average) * rstd, _per_channel(weight, x), _per_channel(bias, x))
    return shown, average.reshape(-1), rstd.reshape(-1)


@implements("_native_batch_norm_legit_no_training")
def batch_norm_inference(
    func: Any, x: Tensor, weight: Any, bias: Any, mean: Tensor, var: Tensor, momentum: float, eps: float
) -> tuple[Tensor, Tensor, Tensor]:
    return _normalised_by(x, mean, var, weight, bias, eps), x.new_zeros(0), x.new_zeros(0)


def _normalised_by(x: Tensor, mean: Any, var: Any, weight: Any, bias: Any, eps: float) -> Tensor:
    rstd = 1 / (_per_channel(var, x) + eps).sqrt()
    return _affine((x - _per_channel(mean, x)) * rstd, _per_channel(weight, x), _per_channel(bias, x))


def _update(x: Tensor, dims: list[int], running: Any, momentum: float) -> None:
    count = math.prod(x.shape[dim] for dim in dims)
    average = x.mean(dims)
    centred = x - _per_channel(average, x)
    unbiased = (centred * centred).sum(dims) / (count - 1)
    for kept, new in zip(running, (average, unbiased), strict=True):
        if isinstance(kept, LiftedTensor):
            kept.places.copy_(lifted((1 - momentum) * kept + momentum * new))


@implements("native_batch_norm_backward", "cudnn_batch_norm_backward")
def batch_norm_backward(
    func: Any,
    grad: Tensor,
    x: Tensor,
    weight: Any,
    running_mean: Any,
    running_var: Any,
    mean: Any,
    rstd: Any,
    training: bool,
    eps: float,
    wanted: Any,
) -> Any:
    dims = [0, *range(2, x.dim())]
    average = _per_channel(mean if training else running_mean, x)
    spread = _per_channel(rstd, x) if training else 1 / (_per_channel(running_var, x) + eps).sqrt()
    normed = (x - average) * spread
    arriving = grad if weight is None else grad * _per_channel(weight, x)
    back = _standardised_backward(arriving, normed, spread, dims) if training else arriving * spread
    return back, (grad * normed).sum(dims), grad.sum(dims)
