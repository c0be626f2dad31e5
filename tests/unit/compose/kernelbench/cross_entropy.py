"""The mean negative log likelihood of the right classes."""

import torch
import torch.nn.functional as F
from torch import nn


class Model(nn.Module):
    def forward(self, predictions, targets):
        return F.cross_entropy(predictions, targets)


def get_inputs():
    return [torch.randn(32, 10), torch.randint(0, 10, (32,))]


def get_init_inputs():
    return []
