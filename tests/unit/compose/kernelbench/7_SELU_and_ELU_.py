"""Exponential units of two kinds, under a name such as KernelBench's own: no name in C++ begins with a digit."""

import torch
from torch import nn


class Model(nn.Module):
    def __init__(self, alpha):
        super().__init__()
        self.alpha = alpha

    def forward(self, x):
        return torch.selu(x) * nn.functional.elu(x, alpha=self.alpha)


def get_inputs():
    return [torch.randn(16, 200)]


def get_init_inputs():
    return [0.5]
