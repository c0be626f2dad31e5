"""A matrix, scaled."""

import torch
from torch import nn


class Model(nn.Module):
    def forward(self, a, s):
        return a * s


def get_inputs():
    return [torch.rand(64, 96), 3.14]


def get_init_inputs():
    return []
