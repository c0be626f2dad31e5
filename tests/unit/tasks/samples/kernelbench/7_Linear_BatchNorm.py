import torch
from torch import nn


class Model(nn.Module):
    """A linear layer, batch norm in training mode, and a mask that is part of the state."""

    def __init__(self, in_features, out_features, shape):
        super().__init__()
        self.linear = nn.Linear(in_features, out_features)
        self.norm = nn.BatchNorm1d(out_features)
        self.scale = nn.Parameter(torch.randn(shape))
        self.register_buffer("mask", torch.tril(torch.ones(out_features, out_features)))

    def forward(self, x):
        return self.norm(self.linear(x)) @ self.mask * self.scale


batch_size = 4096
in_features = 24
out_features = 10


def get_inputs():
    return [torch.rand(batch_size, in_features)]


def get_init_inputs():
    return [in_features, out_features, (out_features,)]
