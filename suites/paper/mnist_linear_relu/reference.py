"""A hidden layer of an MNIST classifier: a matrix product, a bias and a ReLU."""

import torch
import torch.nn.functional as F


def forward(x, weight, bias):
    return F.relu(F.linear(x, weight, bias))


def save(x, weight, bias):
    return forward(x, weight, bias)


def backward(grad_y, y, x, weight, bias):
    """The saved output says which units were on: recomputed sums next to zero would not agree on it."""
    alive = torch.where(y > 0, grad_y, 0)
    return alive @ weight, alive.T @ x, alive.sum(0)


def sum_of_products(x, weight, bias):
    products = x.float().unsqueeze(1) * weight.float()
    return (products.sum(-1) + bias.float()).clamp_min(0).to(x.dtype)


def backward_in_float(grad_y, y, x, weight, bias):
    alive = (grad_y * (y > 0)).float()
    grad_weight = (alive.unsqueeze(2) * x.float().unsqueeze(1)).sum(0)
    grads = alive @ weight.float(), grad_weight, torch.ones_like(alive[:, 0]) @ alive
    return tuple(grad.to(x.dtype) for grad in grads)
