import torch


def first_half(x):
    return x[:, : x.shape[1] // 2] * 2


def gated(x):
    one, other = x.chunk(2, -1)
    return one * other


def always_zero(x, y):
    return (x - x) + y


def scaled_rows(diagonal, x):
    return torch.diag(diagonal) @ x
