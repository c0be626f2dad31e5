"""Each channel normalised by itself, then the largest of every window along it."""

import torch
from torch import nn


class Model(nn.Module):
    def __init__(self, features, kernel_size, stride, padding, dilation):
        super().__init__()
        self.norm = nn.InstanceNorm1d(features)
        self.pool = nn.MaxPool1d(kernel_size, stride, padding, dilation)

    def forward(self, x):
        return self.pool(self.norm(x))


def get_inputs():
    return [torch.rand(4, 6, 200, dtype=torch.bfloat16)]


def get_init_inputs():
    return [6, 4, 2, 1, 3]
