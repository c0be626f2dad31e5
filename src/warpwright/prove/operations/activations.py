"""Activation functions and their derivatives, written with the operations of arithmetic.py."""

from __future__ import annotations

import math
from typing import Any

import torch

from warpwright.prove.tensor import implements

Tensor = torch.Tensor


@implements("sigmoid", "special_expit")
def sigmoid(func: Any, x: Tensor) -> Tensor:
    return 1 / (1 + (-x).exp())


@implements("sigmoid_backward")
def sigmoid_backward(func: Any, grad: Tensor, y: Tensor) -> Tensor:
    return grad * y * (1 - y)


@implements("tanh_backward")
def tanh_backward(func: Any, grad: Tensor, y: Tensor) -> Tensor:
    return grad * (1 - y * y)


@implements("log_sigmoid_forward")
def log_sigmoid(func: Any, x: Tensor) -> tuple[Tensor, Tensor]:
    return -(1 + (-x).exp()).log(), torch.zeros(0)


@implements("log_sigmoid_backward")
def log_sigmoid_backward(func: Any, grad: Tensor, x: Tensor, buffer: Tensor) -> Tensor:
    return grad * torch.sigmoid(-x)


@implements("relu")
def relu(func: Any, x: Tensor) -> Tensor:
    return torch.where(x > 0, x, torch.where(x.isnan(), x, 0.0))


@implements("threshold")
def threshold(func: Any, x: Tensor, threshold: float, value: float) -> Tensor:
    return torch.where(x > threshold, x, value)


@implements("threshold_backward")
def threshold_backward(func: Any, grad: Tensor, x: Tensor, threshold: float) -> Tensor:
    return torch.where(x > threshold, grad, 0.0)


@implements("leaky_relu")
def leaky_relu(func: Any, x: Tensor, negative_slope: float = 0.01) -> Tensor:
    return torch.where(x > 0, x, negative_slope * x)


@implements("leaky_relu_backward")
def leaky_relu_backward(func: Any, grad: Tensor, x: Tensor, negative_slope: float, self_is_result: bool) -> Tensor:
    return torch.where(x > 0, grad, negative_slope * grad)


@implements("_prelu_kernel")
def prelu(func: Any, x: Tensor, weight: Tensor) -> Tensor:
    return torch.where(x > 0, x, weight * x)


@implements("_prelu_kernel_backward")
def prelu_backward(func: Any, grad: Tensor, x: Tensor, weight: Tensor) -> tuple[Tensor, Tensor]:
    return torch.where(x > 0, grad, weight * grad), torch.where(x > 0, 0.0, x * grad)


@implements("elu")
def elu(func: Any, x: Tensor, alpha: float = 1, scale: float = 1, input_scale: float = 1) -> Tensor:
    return scale * torch.where(x > 0, x, alpha * ((input_scale * x).exp() - 1))


@implements("elu_backward")
def elu_backward(
    func: Any, grad: Tensor, alpha: float, scale: float, input_scale: float, is_result: bool, x: Tensor
) -> Tensor:
    """`x` is the input, or with `is_result` the output."""
    below = x + alpha * scale if is_result else alpha * scale * (input_scale * x).exp()
    return grad * torch.where(x > 0, scale, input_scale * below)


@implements("celu")
def celu(func: Any, x: Tensor, alpha: float = 1) -> Tensor:
    return torch.where(x > 0, x, alpha * ((x / alpha).exp() - 1))


@implements("silu")
def silu(func: Any, x: Tensor) -> Tensor:
    return x / (1 + (-x).exp())


@implements("silu_backward")
def silu_backward(func: Any, grad: Tensor, x: Tensor) -> Tensor:
    gate = torch.sigmoid(x)
    return grad * gate * (1 + x * (1 - gate))


@implements("softplus")
def softplus(func: Any, x: Tensor, beta: float = 1, threshold: float = 20) -> Tensor:
    return torch.where(x * beta > threshold, x, (1 + (x * beta).exp()).log() / beta)


@implements("softplus_backward")
def softplus_backward(func: Any, grad: Tensor, x: Tensor, beta: float, threshold: float) -> Tensor:
    return torch.where(x * beta > threshold, grad, grad * torch.sigmoid(x * beta))


@implements("mish")
def mish(func: Any, x: Tensor) -> Tensor:
    return x * torch.tanh(torch.nn.functional.softplus(x))


@implements("hardtanh")
def hardtanh(func: Any, x: Tensor, min_val: float = -1, max_val: float = 1) -> Tensor:
    return x.clamp(min_val, max_val)


@implements("hardtanh_backward")
def hardtanh_backward(func: Any, grad: Tensor, x: Tensor, min_val: float, max_val: float) -> Tensor:
    return torch.where((x <= min_val) | (x >= max_val), 0.0, grad)


@implements("hardsigmoid")
def hardsigmoid(func: Any, x: Tensor) -> Tensor:
    return (x + 3).clamp(0, 6) / 6


@implements("hardswish")
def hardswish(func: Any, x: Tensor) -> Tensor:
    return x * (x + 3).clamp(0, 6) / 6


@implements("gelu")
def gelu(func: Any, x: Tensor, approximate: str = "none") -> Tensor:
    return x * (1 + _gelu_curve(x, approximate)) / 2


def _gelu_curve(x: Tensor, approximate: str) -> Tensor:
    if approximate == "none":
        return torch.erf(x * math.sqrt(0.5))
    return torch.tanh(math.sqrt(2 / math.pi) * (x + 0.044715 * x * x * x))


@implements("gelu_backward")
def gelu_backward(func: Any, grad: Tensor, x: Tensor, approximate: str = "none") -> Tensor:
    curve = _gelu_curve(x, approximate)
    if approximate == "none":
        slope = (-x * x / 2).exp() * math.sqrt(2 / math.pi)
    else:
        slope = (1 - curve * curve) * math.sqrt(2 / math.pi) * (1 + 3 * 0.044715 * x * x)
    return grad * ((1 + curve) / 2 + x * slope / 2)
