"""What is on the wrong side of the margin."""

import torch
from torch import nn


class Model(nn.Module):
    def forward(self, predictions, targets):
        return torch.mean(torch.clamp(1 - predictions * targets, min=0))


def get_inputs():
    return [torch.randn(128, 1), torch.randint(0, 2, (128, 1)).float() * 2 - 1]


def get_init_inputs():
    return []
