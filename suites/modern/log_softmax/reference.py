"""Logarithm of the softmax over the last dimension."""

import torch


def forward(x):
    return torch.log_softmax(x, dim=-1)


def save(x):
    return torch.log_softmax(x, dim=-1)


def less_its_log_sum(x):
    wide = x.float()
    return (wide - wide.logsumexp(-1, keepdim=True)).to(x.dtype)


def shifted_first(x):
    wide = x.float()
    shifted = wide - wide.amax(-1, keepdim=True)
    return (shifted - shifted.exp().sum(-1, keepdim=True).log()).to(x.dtype)
