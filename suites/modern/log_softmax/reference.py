"""Logarithm of the softmax over the last dimension."""

import torch


def forward(x):
    return torch.log_softmax(x, dim=-1)


def save(x):
    return torch.log_softmax(x, dim=-1)


def step_by_step(x):
    wide = x.float()
    shifted = wide - wide.detach().amax(-1, keepdim=True)
    return (shifted - shifted.exp().sum(-1, keepdim=True).log()).to(x.dtype)
