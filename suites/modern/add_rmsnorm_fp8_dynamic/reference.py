"""Residual add, RMSNorm and quantisation to 8-bit floats, each row with a scale that makes its largest element fit."""

import torch
import torch.nn.functional as F

LARGEST = 448.0
SMALLEST_SCALE = 1 / (LARGEST * 512)  # a row of zeros must not be divided by zero


def forward(x, residual, weight, eps):
    total = x + residual
    wide = total.float()
    rstd = torch.rsqrt(wide.square().mean(-1, keepdim=True) + eps)
    normed = (wide * rstd * weight.float()).to(x.dtype)
    return *quantised(normed.float()), total


def quantised(wide):
    scale = (wide.abs().amax(-1, keepdim=True) / LARGEST).clamp_min(SMALLEST_SCALE)
    return (wide / scale).to(torch.float8_e4m3fn), scale.squeeze(-1)


def never_rounded(x, residual, weight, eps):
    """One kernel: nothing is rounded before the quantisation."""
    total = x.float() + residual.float()
    rstd = torch.rsqrt(total.square().mean(-1, keepdim=True) + eps)
    return *quantised(total * weight.float() * rstd), total.to(x.dtype)


def library(x, residual, weight, eps):
    total = x + residual
    return *quantised(F.rms_norm(total, weight.shape, weight, eps).float()), total
