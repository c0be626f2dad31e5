"""Normalised over the last three dimensions."""

import torch
from torch import nn


class Model(nn.Module):
    def __init__(self, shape):
        super().__init__()
        self.norm = nn.LayerNorm(normalized_shape=shape)

    def forward(self, x):
        return self.norm(x)


def get_inputs():
    return [torch.randn(4, 8, 12, 12)]


def get_init_inputs():
    return [(8, 12, 12)]
