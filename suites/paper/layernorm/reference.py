"""Layer normalisation of whole samples: over the channels and both image axes, statistics in float32."""

import torch
import torch.nn.functional as F

SAMPLE = (1, 2, 3)


def forward(x, weight, bias, eps):
    wide = x.float()
    centred = wide - wide.mean(SAMPLE, keepdim=True)
    rstd = torch.rsqrt(centred.square().mean(SAMPLE, keepdim=True) + eps)
    return (centred * rstd * weight.float() + bias.float()).to(x.dtype)


def save(x, weight, bias, eps):
    wide = x.float()
    return wide.mean(SAMPLE), torch.rsqrt(wide.var(SAMPLE, unbiased=False) + eps)


def merged_channels(x, weight, bias, eps):
    """Each channel's own mean and variance, merged: the way blocks of threads combine theirs."""
    wide = x.float()
    means = wide.mean((2, 3), keepdim=True)
    variances = (wide - means).square().mean((2, 3), keepdim=True)
    mean = means.mean(1, keepdim=True)
    variance = (variances + (means - mean).square()).mean(1, keepdim=True)
    scale = weight.float() / torch.sqrt(variance + eps)
    return ((wide - mean) * scale + bias.float()).to(x.dtype)


def fused(x, weight, bias, eps):
    return F.layer_norm(x.float(), weight.shape, weight.float(), bias.float(), eps).to(x.dtype)


def library(x, weight, bias, eps):
    return F.layer_norm(x, weight.shape, weight, bias, eps)
