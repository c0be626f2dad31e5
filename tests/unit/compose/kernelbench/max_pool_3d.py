"""The largest of each window of a volume."""

import torch
from torch import nn


class Model(nn.Module):
    def __init__(self, size):
        super().__init__()
        self.pool = nn.MaxPool3d(size, stride=2, padding=1)

    def forward(self, x):
        return self.pool(x)


def get_inputs():
    return [torch.randn(1, 3, 8, 8, 8)]


def get_init_inputs():
    return [3]
