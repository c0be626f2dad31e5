"""Loss functions."""

from __future__ import annotations

from typing import Any

import torch

from warpwright.prove.tensor import implements

Tensor = torch.Tensor
NONE, MEAN = 0, 1
"""Torch's numbers for the ways to reduce a loss; the third is the sum."""


def _reduced(losses: Tensor, reduction: int) -> Tensor:
    return losses if reduction == NONE else losses.mean() if reduction == MEAN else losses.sum()


def _share(grad: Tensor, x: Tensor, reduction: int) -> Tensor:
    return grad / x.numel() if reduction == MEAN else grad


@implements("mse_loss")
def mse_loss(func: Any, x: Tensor, y: Tensor, reduction: int = MEAN) -> Tensor:
    return _reduced((x - y) * (x - y), reduction)


@implements("mse_loss_backward")
def mse_loss_backward(func: Any, grad: Tensor, x: Tensor, y: Tensor, reduction: int) -> Tensor:
    return _share(grad, x, reduction) * 2 * (x - y)


@implements("smooth_l1_loss")
def smooth_l1_loss(func: Any, x: Tensor, y: Tensor, reduction: int = MEAN, beta: float = 1.0) -> Tensor:
    apart = (x - y).abs()
    return _reduced(torch.where(apart < beta, apart * apart / (2 * beta), apart - beta / 2), reduction)


@implements("smooth_l1_loss_backward")
def smooth_l1_loss_backward(func: Any, grad: Tensor, x: Tensor, y: Tensor, reduction: int, beta: float) -> Tensor:
    apart = x - y
    return _share(grad, x, reduction) * torch.where(apart.abs() < beta, apart / beta, apart.sign())


@implements("huber_loss")
def huber_loss(func: Any, x: Tensor, y: Tensor, reduction: int = MEAN, delta: float = 1.0) -> Tensor:
    apart = (x - y).abs()
    return _reduced(torch.where(apart <= delta, apart * apart / 2, delta * (apart - delta / 2)), reduction)


@implements("binary_cross_entropy")
def binary_cross_entropy(func: Any, x: Tensor, y: Tensor, weight: Any = None, reduction: int = MEAN) -> Tensor:
    losses = -(y * x.log().clamp_min(-100) + (1 - y) * (1 - x).log().clamp_min(-100))
    return _reduced(losses if weight is None else losses * weight, reduction)


@implements("nll_loss_forward", "nll_loss2d_forward")
def nll_loss(
    func: Any, x: Tensor, target: Tensor, weight: Any, reduction: int, ignore_index: int
) -> tuple[Tensor, Tensor]:
    classes = x.dim() - 1 if x.dim() < 3 else 1
    counts = _counts(x, target, weight, ignore_index)
    safe = torch.where(target == ignore_index, 0, target)
    losses = -x.gather(classes, safe.unsqueeze(classes)).squeeze(classes) * counts
    total = counts.sum()
    return (losses / 1 if reduction == NONE else losses.sum() / total if reduction == MEAN else losses.sum()), total


def _counts(x: Tensor, target: Tensor, weight: Any, ignore_index: int) -> Tensor:
    """How much each target counts."""
    kept = (target != ignore_index).to(x.dtype)
    return kept if weight is None else kept * weight[torch.where(target == ignore_index, 0, target)]


@implements("nll_loss_backward", "nll_loss2d_backward")
def nll_loss_backward(
    func: Any, grad: Tensor, x: Tensor, target: Tensor, weight: Any, reduction: int, ignore_index: int, total: Tensor
) -> Tensor:
    classes = x.dim() - 1 if x.dim() < 3 else 1
    safe = torch.where(target == ignore_index, 0, target)
    share = -grad * _counts(x, target, weight, ignore_index)
    share = share / total if reduction == MEAN else share
    return torch.zeros_like(x).scatter(classes, safe.unsqueeze(classes), share.unsqueeze(classes))
