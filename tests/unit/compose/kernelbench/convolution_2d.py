"""A convolution with a square kernel."""

import torch
from torch import nn


class Model(nn.Module):
    def __init__(self, channels, features, size):
        super().__init__()
        self.conv = nn.Conv2d(channels, features, size, bias=False)

    def forward(self, x):
        return self.conv(x)


def get_inputs():
    return [torch.randn(2, 3, 16, 16)]


def get_init_inputs():
    return [3, 8, 3]
