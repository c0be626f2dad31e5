"""The position of the largest element of each row, as greedy decoding asks for it. NaN counts as the largest."""

import torch


def forward(x):
    return torch.argmax(x, dim=-1)


def scores(x):
    return x


def last_of_the_largest(x):
    return x.shape[-1] - 1 - x.flip(-1).argmax(-1)


def by_sorting(x):
    return x.sort(dim=-1, descending=True).indices[..., 0]
