"""Normalised over groups of channels."""

import torch
from torch import nn


class Model(nn.Module):
    def __init__(self, features, groups):
        super().__init__()
        self.norm = nn.GroupNorm(num_groups=groups, num_channels=features)

    def forward(self, x):
        return self.norm(x)


def get_inputs():
    return [torch.randn(2, 16, 8, 8)]


def get_init_inputs():
    return [16, 4]
