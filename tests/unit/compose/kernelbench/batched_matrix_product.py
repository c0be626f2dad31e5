"""Products of many pairs of matrices."""

import torch
from torch import nn


class Model(nn.Module):
    def forward(self, a, b):
        return torch.bmm(a, b)


def get_inputs():
    return [torch.rand(3, 16, 24), torch.rand(3, 24, 8)]


def get_init_inputs():
    return []
