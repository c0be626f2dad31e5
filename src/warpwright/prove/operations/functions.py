"""Elementwise functions written with the operations of arithmetic.py."""

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


@implements("nan_to_num")
def nan_to_num(func: Any, x: Tensor, nan: Any = None, posinf: Any = None, neginf: Any = None) -> Tensor:
    most = torch.finfo(x.dtype).max
    shown = torch.where(x.isnan(), nan or 0.0, x)
    shown = torch.where(shown == math.inf, most if posinf is None else posinf, shown)
    return torch.where(shown == -math.inf, -most if neginf is None else neginf, shown)
