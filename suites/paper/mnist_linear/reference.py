"""The last layer of an MNIST classifier: a matrix product and a bias."""

import torch
import torch.nn.functional as F


def forward(x, weight, bias):
    return F.linear(x, weight, bias)


def sum_of_products(x, weight, bias):
    products = x.float().unsqueeze(1) * weight.float()
    return (products.sum(-1) + bias.float()).to(x.dtype)


def bias_as_column(x, weight, bias):
    """The bias as the weight of one more input that is always one."""
    return torch.cat([x, x.new_ones(x.shape[0], 1)], 1) @ torch.cat([weight, bias.unsqueeze(1)], 1).T
