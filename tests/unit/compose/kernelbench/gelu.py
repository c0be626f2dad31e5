"""Gaussian error linear unit."""

import torch
import torch.nn.functional as F
from torch import nn


class Model(nn.Module):
    def forward(self, x):
        return F.gelu(x)


def get_inputs():
    return [torch.randn(16, 1024)]


def get_init_inputs():
    return []
