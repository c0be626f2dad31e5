"""RMSNorm as in Llama: statistics in float32, result in the type of the input."""

import torch
import torch.nn.functional as F


def forward(x, weight, eps):
    wide = x.float()
    rstd = torch.rsqrt(wide.square().mean(-1, keepdim=True) + eps)
    return (wide * rstd * weight.float()).to(x.dtype)


def save(x, weight, eps):
    return torch.rsqrt(x.float().square().mean(-1) + eps)


def sum_of_squares(x, weight, eps):
    wide = x.float()
    scale = 1 / torch.sqrt((wide * wide).sum(-1, keepdim=True) / x.shape[-1] + eps)
    return (wide * weight.float() * scale).to(x.dtype)


def library(x, weight, eps):
    return F.rms_norm(x, weight.shape, weight, eps)
