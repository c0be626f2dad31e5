"""Group norm and SiLU, as before every convolution of a Stable Diffusion U-Net and of its decoder."""

import torch
import torch.nn.functional as F


def forward(x, weight, bias, groups, eps):
    grouped = x.float().reshape(x.shape[0], groups, -1)
    centred = grouped - grouped.mean(-1, keepdim=True)
    rstd = torch.rsqrt(centred.square().mean(-1, keepdim=True) + eps)
    normed = (centred * rstd).reshape(x.shape) * per_channel(weight) + per_channel(bias)
    return F.silu(normed.to(x.dtype))


def per_channel(parameter):
    return parameter.float()[:, None, None]


def save(x, weight, bias, groups, eps):
    grouped = x.float().reshape(x.shape[0], groups, -1)
    mean = grouped.mean(-1)
    variance = (grouped - mean.unsqueeze(-1)).square().mean(-1)
    return mean, torch.rsqrt(variance + eps)


def scale_and_shift(x, weight, bias, groups, eps):
    """One multiply-add per element, rounded once at the end."""
    wide = x.float()
    variance, mean = torch.var_mean(wide.reshape(x.shape[0], groups, -1), -1, correction=0)
    share = x.shape[1] // groups
    scale = spread(torch.rsqrt(variance + eps), share) * per_channel(weight)
    shift = per_channel(bias) - spread(mean, share) * scale
    return F.silu(wide * scale + shift).to(x.dtype)


def spread(statistic, share):
    """From groups to the channels in them."""
    return statistic.repeat_interleave(share, dim=1)[..., None, None]


def library_in_float32(x, weight, bias, groups, eps):
    normed = F.group_norm(x.float(), groups, weight.float(), bias.float(), eps)
    return F.silu(normed.to(x.dtype))


def library(x, weight, bias, groups, eps):
    """Fast, but it keeps mean and rstd in the type of x, too coarse a type for the gradients in 16 bits."""
    return F.silu(F.group_norm(x, groups, weight, bias, eps))
