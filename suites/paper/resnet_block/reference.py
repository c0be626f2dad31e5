"""A basic residual block of a ResNet with the running statistics of its batch normalisations, as in inference."""

import torch
import torch.nn.functional as F
from torch.nn.grad import conv2d_input, conv2d_weight


def forward(x, weight1, gain1, bias1, mean1, var1, weight2, gain2, bias2, mean2, var2, eps):
    return save(x, weight1, gain1, bias1, mean1, var1, weight2, gain2, bias2, mean2, var2, eps)[-1]


def save(x, weight1, gain1, bias1, mean1, var1, weight2, gain2, bias2, mean2, var2, eps):
    conv1 = F.conv2d(x, weight1, padding=1)
    hidden = F.relu(_normalised(conv1, gain1, bias1, mean1, var1, eps))
    conv2 = F.conv2d(hidden, weight2, padding=1)
    return conv1, hidden, conv2, F.relu(_normalised(conv2, gain2, bias2, mean2, var2, eps) + x)


def backward(
    grad_y, conv1, hidden, conv2, y, x, weight1, gain1, bias1, mean1, var1, weight2, gain2, bias2, mean2, var2, eps
):
    """Saved activations say which units were on: recomputed sums next to zero would not agree on it."""
    alive = torch.where(y > 0, grad_y, 0)
    grad_conv2, grad_gain2, grad_bias2 = _normalised_backward(alive, conv2, gain2, mean2, var2, eps)
    inner = torch.where(hidden > 0, conv2d_input(hidden.shape, weight2, grad_conv2, padding=1), 0)
    grad_conv1, grad_gain1, grad_bias1 = _normalised_backward(inner, conv1, gain1, mean1, var1, eps)
    grad_x = conv2d_input(x.shape, weight1, grad_conv1, padding=1) + alive
    grad_weight1 = conv2d_weight(x, weight1.shape, grad_conv1, padding=1)
    grad_weight2 = conv2d_weight(hidden, weight2.shape, grad_conv2, padding=1)
    return grad_x, grad_weight1, grad_gain1, grad_bias1, grad_weight2, grad_gain2, grad_bias2


def folded(x, weight1, gain1, bias1, mean1, var1, weight2, gain2, bias2, mean2, var2, eps):
    """Each normalisation folded into the convolution before it."""
    hidden = F.relu(_folded(x.float(), weight1, gain1, bias1, mean1, var1, eps))
    return F.relu(_folded(hidden, weight2, gain2, bias2, mean2, var2, eps) + x.float()).to(x.dtype)


def library(x, weight1, gain1, bias1, mean1, var1, weight2, gain2, bias2, mean2, var2, eps):
    hidden = F.conv2d(x, weight1, padding=1)
    hidden = F.relu(F.batch_norm(hidden, mean1, var1, gain1, bias1, eps=eps))
    hidden = F.batch_norm(F.conv2d(hidden, weight2, padding=1), mean2, var2, gain2, bias2, eps=eps)
    return F.relu(hidden + x)


def backward_folded(
    grad_y, conv1, hidden, conv2, y, x, weight1, gain1, bias1, mean1, var1, weight2, gain2, bias2, mean2, var2, eps
):
    """In float32 throughout, with the scale of each normalisation moved into its convolution."""
    alive = (grad_y * (y > 0)).float()
    inner, *second = _folded_backward(alive, hidden, conv2, weight2, gain2, mean2, var2, eps)
    outer, *first = _folded_backward(inner * (hidden > 0), x, conv1, weight1, gain1, mean1, var1, eps)
    return tuple(grad.to(x.dtype) for grad in (outer + alive, *first, *second))


def _planes(values):
    return values.float().view(1, -1, 1, 1)


def _standardised(conv, mean, var, eps):
    return (conv.float() - _planes(mean)) * torch.rsqrt(_planes(var) + eps)


def _normalised(conv, gain, bias, mean, var, eps):
    return (_standardised(conv, mean, var, eps) * _planes(gain) + _planes(bias)).to(conv.dtype)


def _normalised_backward(grad, conv, gain, mean, var, eps):
    wide = grad.float()
    grad_conv = wide * _planes(gain) * torch.rsqrt(_planes(var) + eps)
    grad_gain = (wide * _standardised(conv, mean, var, eps)).sum((0, 2, 3))
    return tuple(value.to(grad.dtype) for value in (grad_conv, grad_gain, wide.sum((0, 2, 3))))


def _folded(x, weight, gain, bias, mean, var, eps):
    scale = gain.float() * torch.rsqrt(var.float() + eps)
    return F.conv2d(x, weight.float() * scale.view(-1, 1, 1, 1), bias.float() - mean.float() * scale, padding=1)


def _folded_backward(grad, x, conv, weight, gain, mean, var, eps):
    rstd = torch.rsqrt(var.float() + eps)
    scale = (gain.float() * rstd).view(-1, 1, 1, 1)
    grad_x = conv2d_input(x.shape, weight.float() * scale, grad, padding=1)
    grad_weight = conv2d_weight(x.float(), weight.shape, grad, padding=1) * scale
    grad_bias = grad.sum((0, 2, 3))
    grad_gain = ((grad * conv.float()).sum((0, 2, 3)) - mean.float() * grad_bias) * rstd
    return grad_x, grad_weight, grad_gain, grad_bias
