"""Squared where small, straight where large."""

import torch
import torch.nn.functional as F
from torch import nn


class Model(nn.Module):
    def forward(self, predictions, targets):
        return F.smooth_l1_loss(predictions, targets)


def get_inputs():
    return [torch.randn(16, 256), torch.randn(16, 256)]


def get_init_inputs():
    return []
