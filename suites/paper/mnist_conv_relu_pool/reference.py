"""The first stage of an MNIST network: 3x3 convolution, ReLU, 2x2 maximum pooling."""

import torch
import torch.nn.functional as F
from torch.nn.grad import conv2d_input, conv2d_weight


def forward(x, weight, bias):
    return F.max_pool2d(F.relu(F.conv2d(x, weight, bias)), 2)


def save(x, weight, bias):
    return F.max_pool2d(F.relu(F.conv2d(x, weight, bias)), 2, return_indices=True)


def backward(grad_y, y, indices, x, weight, bias):
    """Saved output and positions say where gradients go: recomputed sums next to a tie would not agree on it."""
    alive = torch.where(y > 0, grad_y, 0)
    rows, columns = x.shape[2] - 2, x.shape[3] - 2
    planes = alive.new_zeros(*alive.shape[:2], rows * columns)
    grad = planes.scatter(2, indices.flatten(2), alive.flatten(2)).unflatten(2, (rows, columns))
    return conv2d_input(x.shape, weight, grad), conv2d_weight(x, weight.shape, grad), alive.sum((0, 2, 3))


def pool_before_relu(x, weight, bias):
    patches = F.unfold(x.float(), 3).transpose(1, 2)
    planes = (patches @ weight.float().flatten(1).T).transpose(1, 2)
    pooled = F.max_pool2d(planes.unflatten(2, (x.shape[2] - 2, x.shape[3] - 2)), 2)
    return (pooled + bias.float().view(-1, 1, 1)).clamp_min(0).to(x.dtype)


def backward_by_patches(grad_y, y, indices, x, weight, bias):
    alive = (grad_y * (y > 0)).float().flatten(2)
    planes = alive.new_zeros(*alive.shape[:2], (x.shape[2] - 2) * (x.shape[3] - 2))
    grad = planes.scatter_add(2, indices.flatten(2), alive)
    grad_patches = weight.float().flatten(1).T @ grad
    grad_x = F.fold(grad_patches, x.shape[2:], 3)
    grad_weight = (grad @ F.unfold(x.float(), 3).transpose(1, 2)).sum(0).view_as(weight)
    return grad_x.to(x.dtype), grad_weight.to(x.dtype), grad.sum((0, 2)).to(x.dtype)
