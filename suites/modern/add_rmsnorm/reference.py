"""Residual add and RMSNorm, as between the blocks of a Llama: the sum is wanted too, as the next residual."""

import torch
import torch.nn.functional as F


def forward(x, residual, weight, eps):
    total = x + residual
    wide = total.float()
    rstd = torch.rsqrt(wide.square().mean(-1, keepdim=True) + eps)
    return (wide * rstd * weight.float()).to(x.dtype), total


def save(x, residual, weight, eps):
    total = x + residual
    return total, torch.rsqrt(total.float().square().mean(-1) + eps)


def summed_wide(x, residual, weight, eps):
    """The norm sees the sum before it is rounded."""
    total = x.float() + residual.float()
    length = torch.sqrt((total * total).sum(-1, keepdim=True) / x.shape[-1] + eps)
    return (total / length * weight.float()).to(x.dtype), total.to(x.dtype)


def library(x, residual, weight, eps):
    total = x + residual
    return F.rms_norm(total, weight.shape, weight, eps), total
