"""Divided by the root mean square over the channels."""

import torch
from torch import nn


class Model(nn.Module):
    def __init__(self, features, eps=1e-5):
        super().__init__()
        self.eps = eps

    def forward(self, x):
        return x / torch.sqrt(torch.mean(x**2, dim=1, keepdim=True) + self.eps)


def get_inputs():
    return [torch.randn(4, 16, 10, 10)]


def get_init_inputs():
    return [16]
