"""Elementwise functions written with the operations of arithmetic.py, and their derivatives."""

from __future__ import annotations

import math
from typing import Any

import torch

from warpwright.prove.tensor import implements

Tensor = torch.Tensor


@implements("square")
def square(func: Any, x: Tensor) -> Tensor:
    return x * x


@implements("rsqrt")
def rsqrt(func: Any, x: Tensor) -> Tensor:
    return 1 / x.sqrt()


@implements("positive")
def positive(func: Any, x: Tensor) -> Tensor:
    return x.clone()


@implements("remainder")
def remainder(func: Any, a: Any, b: Any) -> Any:
    return a - b * torch.div(a, b, rounding_mode="floor")


@implements("frac")
def frac(func: Any, x: Tensor) -> Tensor:
    return x - x.trunc()


@implements("exp2", "special_exp2")
def exp2(func: Any, x: Tensor) -> Tensor:
    return (x * math.log(2)).exp()


@implements("expm1", "special_expm1")
def expm1(func: Any, x: Tensor) -> Tensor:
    return x.exp() - 1


@implements("log2")
def log2(func: Any, x: Tensor) -> Tensor:
    return x.log() / math.log(2)


@implements("log10")
def log10(func: Any, x: Tensor) -> Tensor:
    return x.log() / math.log(10)


@implements("log1p", "special_log1p")
def log1p(func: Any, x: Tensor) -> Tensor:
    return (1 + x).log()


@implements("xlogy", "special_xlogy")
def xlogy(func: Any, x: Any, y: Any) -> Tensor:
    product = x * torch.log(y) if isinstance(y, Tensor) else x * math.log(y)
    return torch.where(torch.eq(x, 0), 0.0, product) if isinstance(x, Tensor) else product


@implements("logit")
def logit(func: Any, x: Tensor, eps: float | None = None) -> Tensor:
    kept = x if eps is None else x.clamp(eps, 1 - eps)
    return (kept / (1 - kept)).log()


@implements("logaddexp")
def logaddexp(func: Any, a: Tensor, b: Tensor) -> Tensor:
    larger = torch.maximum(a, b)
    return ((a - larger).exp() + (b - larger).exp()).log() + larger


@implements("sinh")
def sinh(func: Any, x: Tensor) -> Tensor:
    return (x.exp() - (-x).exp()) / 2


@implements("cosh")
def cosh(func: Any, x: Tensor) -> Tensor:
    return (x.exp() + (-x).exp()) / 2


@implements("asinh")
def asinh(func: Any, x: Tensor) -> Tensor:
    return (x + (x * x + 1).sqrt()).log()


@implements("acosh")
def acosh(func: Any, x: Tensor) -> Tensor:
    return (x + (x * x - 1).sqrt()).log()


@implements("atanh")
def atanh(func: Any, x: Tensor) -> Tensor:
    return ((1 + x) / (1 - x)).log() / 2


@implements("erfc", "special_erfc")
def erfc(func: Any, x: Tensor) -> Tensor:
    return 1 - x.erf()


@implements("hypot")
def hypot(func: Any, a: Tensor, b: Tensor) -> Tensor:
    return (a * a + b * b).sqrt()


@implements("fmax")
def fmax(func: Any, a: Tensor, b: Tensor) -> Tensor:
    return torch.where(a.isnan() | (a < b), b, a)


@implements("fmin")
def fmin(func: Any, a: Tensor, b: Tensor) -> Tensor:
    return torch.where(a.isnan() | (a > b), b, a)


@implements("clamp", "clip")
def clamp(func: Any, x: Any, min: Any = None, max: Any = None) -> Tensor:
    raised = x if min is None else _chosen(x < min, min, x)
    return (raised + 0) if max is None else _chosen(raised > max, max, raised)


@implements("clamp_min")
def clamp_min(func: Any, x: Any, min: Any) -> Tensor:
    return _chosen(x < min, min, x)


@implements("clamp_max")
def clamp_max(func: Any, x: Any, max: Any) -> Tensor:
    return _chosen(x > max, max, x)


def _chosen(condition: Tensor, bound: Any, x: Tensor) -> Tensor:
    return torch.where(condition, bound, x)


@implements("addcmul")
def addcmul(func: Any, x: Tensor, a: Tensor, b: Tensor, value: Any = 1) -> Any:
    return x + value * a * b


@implements("addcdiv")
def addcdiv(func: Any, x: Tensor, a: Tensor, b: Tensor, value: Any = 1) -> Any:
    return x + value * a / b


@implements("lerp")
def lerp(func: Any, start: Tensor, end: Tensor, weight: Any) -> Any:
    return start + weight * (end - start)


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


@implements("nan_to_num")
def nan_to_num(func: Any, x: Tensor, nan: Any = None, posinf: Any = None, neginf: Any = None) -> Tensor:
    most = torch.finfo(x.dtype).max
    shown = torch.where(x.isnan(), nan or 0.0, x)
    shown = torch.where(shown == math.inf, most if posinf is None else posinf, shown)
    return torch.where(shown == -math.inf, -most if neginf is None else neginf, shown)
