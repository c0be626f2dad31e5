"""The product of one matrix and the transpose of another."""

import torch
from torch import nn


class Model(nn.Module):
    def forward(self, a, b):
        return torch.matmul(a, b.T)


def get_inputs():
    return [torch.rand(32, 24), torch.rand(16, 24)]


def get_init_inputs():
    return []
