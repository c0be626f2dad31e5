"""Products of matrices and vectors."""

from __future__ import annotations

from typing import Any

import torch

from warpwright.prove import numbers
from warpwright.prove.tensor import LiftedTensor, implements, lifted, made

Tensor = torch.Tensor


@implements("bmm")
def bmm(func: Any, a: Tensor, b: Tensor) -> LiftedTensor:
    return made(numbers.product(lifted(a), lifted(b).transpose(1, 2)), a, b)


@implements("mm")
def mm(func: Any, a: Tensor, b: Tensor) -> Tensor:
    return torch.bmm(a[None], b[None])[0]


@implements("mv")
def mv(func: Any, a: Tensor, b: Tensor) -> Tensor:
    return torch.bmm(a[None], b[None, :, None])[0, :, 0]


@implements("dot", "vdot")
def dot(func: Any, a: Tensor, b: Tensor) -> Tensor:
    return torch.bmm(a[None, None], b[None, :, None])[0, 0, 0]


@implements("addmm")
def addmm(func: Any, added: Tensor, a: Tensor, b: Tensor, beta: Any = 1, alpha: Any = 1) -> Tensor:
    return _scaled(added, beta) + _scaled(torch.mm(a, b), alpha)


@implements("addmv")
def addmv(func: Any, added: Tensor, a: Tensor, b: Tensor, beta: Any = 1, alpha: Any = 1) -> Tensor:
    return _scaled(added, beta) + _scaled(torch.mv(a, b), alpha)


@implements("baddbmm")
def baddbmm(func: Any, added: Tensor, a: Tensor, b: Tensor, beta: Any = 1, alpha: Any = 1) -> Tensor:
    return _scaled(added, beta) + _scaled(torch.bmm(a, b), alpha)


@implements("_addmm_activation")
def addmm_activation(
    func: Any, added: Tensor, a: Tensor, b: Tensor, beta: Any = 1, alpha: Any = 1, use_gelu: bool = False
) -> Tensor:
    found = torch.addmm(added, a, b, beta=beta, alpha=alpha)
    return torch.nn.functional.gelu(found, approximate="tanh") if use_gelu else torch.relu(found)


@implements("_trilinear")
def trilinear(
    func: Any,
    a: Tensor,
    b: Tensor,
    c: Tensor,
    expand1: Any,
    expand2: Any,
    expand3: Any,
    sumdim: Any,
    unroll_dim: int = 1,
) -> Tensor:
    """Products of three tensors after new dimensions are put into each, summed over some."""
    for dim in expand1:
        a = a.unsqueeze(dim)
    for dim in expand2:
        b = b.unsqueeze(dim)
    for dim in expand3:
        c = c.unsqueeze(dim)
    return (a * b * c).sum(sumdim)


def _scaled(x: Tensor, by: Any) -> Tensor:
    return x if by == 1 else x * by
