"""Operations on lifted numbers: the doubles are torch's own results, forward and backward."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest
import torch
import torch.nn.functional as F

from warpwright.core.errors import Undecided
from warpwright.prove import numbers
from warpwright.prove.lifting import Lifting
from warpwright.prove.tensor import LiftedTensor, values_of

Function = Callable[..., Any]

ELEMENTWISE: dict[str, Function] = {
    name: getattr(torch, name)
    for name in (
        *("exp", "exp2", "expm1", "tanh", "erf", "erfc", "sigmoid", "sin", "cos", "sinh", "cosh", "asinh", "atan"),
        *("square", "abs", "neg", "reciprocal", "relu", "sign", "floor", "round", "trunc", "frac", "isnan"),
    )
}
ACTIVATIONS: dict[str, Function] = {
    "gelu": F.gelu,
    "gelu tanh": lambda x: F.gelu(x, approximate="tanh"),
    **{
        name: getattr(F, name)
        for name in (
            *("silu", "softplus", "mish", "elu", "selu", "celu", "leaky_relu", "hardtanh", "hardswish", "hardsigmoid"),
            *("logsigmoid", "softsign", "tanhshrink", "relu6"),
        )
    },
}
POSITIVE: dict[str, Function] = {
    name: getattr(torch, name) for name in ("log", "log2", "log10", "log1p", "sqrt", "rsqrt")
}
REDUCTIONS: dict[str, Function] = {
    "sum": lambda x: x.sum((0, 2)),
    "mean": lambda x: x.mean(-1, keepdim=True),
    "var": lambda x: x.var(1),
    "std": lambda x: x.std(-1, unbiased=False),
    "prod": lambda x: x.prod(-1),
    "amax": lambda x: x.amax((1, 2)),
    "max": lambda x: x.max(1),
    "min": lambda x: x.min(),
    "median": lambda x: x.median(-1),
    "argmin": lambda x: x.argmin(-1),
    "norm": lambda x: x.norm(dim=-1),
    "norm of order 3": lambda x: torch.linalg.vector_norm(x, 3, dim=-1),
    "logsumexp": lambda x: x.logsumexp(-1),
    "softmax": lambda x: x.softmax(1),
    "log_softmax": lambda x: x.log_softmax(-1),
    "cumsum": lambda x: x.cumsum(1),
    "cumprod": lambda x: x.cumprod(-1),
    "logcumsumexp": lambda x: x.detach().logcumsumexp(1),
    "cummax": lambda x: x.cummax(-1),
    "sort": lambda x: x.sort(-1, descending=True),
    "topk": lambda x: x.topk(2, dim=1),
    "masked softmax": lambda x: x.masked_fill(torch.ones(x.shape[-2:], dtype=torch.bool).triu(1), -torch.inf).softmax(
        -1
    ),
}
MOVEMENT: dict[str, Function] = {
    "cat": lambda x: torch.cat([x, torch.ones(2, 3, 4), x], 1),
    "flip and roll": lambda x: x.flip(1).roll(1, -1),
    "tril": lambda x: x.tril(),
    "pad": lambda x: F.pad(x, (1, 2), value=0.5),
    "pad by reflection": lambda x: F.pad(x, (1, 2), mode="reflect"),
    "upsample": lambda x: F.interpolate(x, scale_factor=2, mode="nearest"),
    "gather": lambda x: x.gather(1, torch.tensor([[[0, 2, 1, 1]]]).expand(2, 2, 4)),
    "index": lambda x: x[:, [2, 0], 1:],
    "scatter": lambda x: torch.zeros(2, 5, 4).scatter(1, torch.tensor([[[0], [4], [2]]]).expand(2, 3, 4), x),
    "scatter_add": lambda x: torch.ones(2, 2, 4).scatter_add(1, torch.tensor([[[0], [1], [1]]]).expand(2, 3, 4), x),
    "index_add": lambda x: torch.ones(2, 2, 4).index_add(1, torch.tensor([1, 1, 0]), x),
    "where": lambda x: torch.where(x > 0.2, x, -0.5),
    "clamp": lambda x: x.clamp(-0.3, 0.4),
    "repeat_interleave": lambda x: x.repeat_interleave(2, dim=1),
    "write into a view": lambda x: _written(x),
    "unfold": lambda x: F.unfold(x[:, :, None, :], (1, 2), padding=(0, 1)),
    "fold": lambda x: F.fold(x.reshape(1, 4, 6), (3, 4), 2),
}
POOLING: dict[str, Function] = {
    "max_pool1d": lambda x: F.max_pool1d(x, 2),
    "avg_pool1d": lambda x: F.avg_pool1d(x, 3, 2, 1),
    "avg_pool2d": lambda x: F.avg_pool2d(x, 2, 2, 1, ceil_mode=True, count_include_pad=False),
    "max_pool2d": lambda x: F.max_pool2d(x, 2, 1, return_indices=True),
    "adaptive_avg_pool1d": lambda x: F.adaptive_avg_pool1d(x, 3),
    "adaptive_avg_pool2d": lambda x: F.adaptive_avg_pool2d(x, (2, 3)),
}
NORMS: dict[str, Function] = {
    "layer_norm": lambda x: F.layer_norm(x, (4,), torch.arange(4.0), torch.ones(4)),
    "group_norm": lambda x: F.group_norm(x.transpose(1, 2), 2, torch.arange(4.0), torch.ones(4)),
    "batch_norm": lambda x: F.batch_norm(x, None, None, torch.arange(3.0), torch.ones(3), training=True),
    "batch_norm in inference": lambda x: F.batch_norm(x, torch.ones(3), torch.full((3,), 0.5)),
    "instance_norm": F.instance_norm,
    "rms_norm": lambda x: F.rms_norm(x, (4,), torch.arange(4.0), 1e-5),
    "normalize": lambda x: F.normalize(x, dim=-1),
}
BOTH: dict[str, Function] = {
    "mse": F.mse_loss,
    "l1": F.l1_loss,
    "smooth_l1": lambda x, y: F.smooth_l1_loss(x, y, beta=0.5),
    "huber": F.huber_loss,
    "kl_div": lambda x, y: F.kl_div(x.log_softmax(-1), y.softmax(-1), reduction="batchmean"),
    "bce": lambda x, y: F.binary_cross_entropy(x.sigmoid(), y.sigmoid()),
    "bce with logits": lambda x, y: F.binary_cross_entropy_with_logits(x, y.sigmoid()),
    "cosine": lambda x, y: F.cosine_similarity(x, y, dim=-1),
    "cross entropy": lambda x, y: F.cross_entropy(
        x[0], torch.tensor([3, -100, 1]), y[0, 0].detach().exp(), label_smoothing=0.1
    ),
    "nll of planes": lambda x, y: F.nll_loss((x + y).log_softmax(1), torch.tensor([[0, 2, 1, 1], [2, 2, 0, 1]])),
    "matmul": lambda x, y: x @ y.mT,
    "einsum": lambda x, y: torch.einsum("bij,bkj->ik", x, y),
    "baddbmm": lambda x, y: torch.baddbmm(x[:, :, :3], x, y.mT, beta=0.5, alpha=2),
    "bilinear": lambda x, y: F.bilinear(x[0], y[0], torch.arange(32.0).reshape(2, 4, 4)),
    "power": lambda x, y: (x * x) ** 1.5 - 2.0**y + x**3,
    "remainder": lambda x, y: x.detach().remainder(0.3) + y.detach().fmod(0.3),
    "maximum": lambda x, y: torch.maximum(x, y) - torch.minimum(x, 0.5 * y),
    "hypot": torch.hypot,
    "lerp": lambda x, y: x.lerp(y, 0.3).addcmul(x, y, value=0.5).addcdiv(x, y.exp()),
    "attention": lambda x, y: F.scaled_dot_product_attention(x, y, x * y, is_causal=True),
    "conv1d": lambda x, y: F.conv1d(x, y[:, :, :3], y[0, 0, :2], stride=2, padding=2, dilation=2),
    "conv1d in groups": lambda x, y: F.conv1d(x, y.reshape(6, 1, 4)[:, :, :2], groups=3),
    "conv2d": lambda x, y: F.conv2d(x[None], y[:, :2, :3, None], padding="same"),
    "conv3d": lambda x, y: F.conv3d(x[None, :, None], y[:, :2, None, None, :2], stride=(1, 1, 2)),
    "conv_transpose1d": lambda x, y: F.conv_transpose1d(
        x, y.reshape(3, 2, 4)[..., :3], stride=3, padding=1, output_padding=1
    ),
    "conv_transpose2d": lambda x, y: F.conv_transpose2d(x[:, :2, None], y[:, :2, None], stride=2, dilation=(1, 2)),
}


def _written(x: torch.Tensor) -> torch.Tensor:
    total = torch.zeros(2, 3, 4)
    total[:, 1:] = x[:, :2]
    total[..., 0].mul_(3.0).add_(x[..., 1])
    return total


def drawn(*shape: int, seed: int) -> torch.Tensor:
    return torch.randn(*shape, generator=torch.Generator().manual_seed(seed), dtype=torch.float64)


def results(function: Function, inputs: list[torch.Tensor]) -> list[torch.Tensor]:
    """What the function returns, then the gradients of a weighted sum of it."""
    leaves = [item.detach().requires_grad_() for item in inputs]
    found = function(*leaves)
    outputs = [found] if isinstance(found, torch.Tensor) else list(found)
    flowing = [item for item in outputs if item.requires_grad]
    if not flowing:
        return outputs
    weighted = [item * torch.arange(1, item.numel() + 1).reshape(item.shape) for item in flowing]
    return [*outputs, *torch.autograd.grad([item.sum() for item in weighted], leaves, allow_unused=True)]


def agree(function: Function, *inputs: torch.Tensor) -> None:
    before = torch.get_default_dtype()
    torch.set_default_dtype(torch.float64)
    try:
        expected = results(function, list(inputs))
        with Lifting():
            found = results(function, [LiftedTensor(numbers.drawn(item, 1), item.dtype) for item in inputs])
    finally:
        torch.set_default_dtype(before)
    for one, other in zip(found, expected, strict=True):
        assert (one is None) == (other is None)
        if other is not None:
            torch.testing.assert_close(values_of(one), other, rtol=1e-6, atol=1e-7, equal_nan=True)


@pytest.mark.parametrize("name", [*ELEMENTWISE, *ACTIVATIONS])
def test_elementwise(name: str) -> None:
    agree({**ELEMENTWISE, **ACTIVATIONS}[name], drawn(2, 3, 4, seed=2))


@pytest.mark.parametrize("name", POSITIVE)
def test_functions_of_positive_numbers(name: str) -> None:
    agree(POSITIVE[name], drawn(2, 3, 4, seed=2).abs() + 0.1)


@pytest.mark.parametrize("name", [*REDUCTIONS, *MOVEMENT, *POOLING, *NORMS])
def test_functions_of_a_tensor(name: str) -> None:
    agree({**REDUCTIONS, **MOVEMENT, **POOLING, **NORMS}[name], drawn(2, 3, 4, seed=3))


@pytest.mark.parametrize("name", BOTH)
def test_functions_of_two_tensors(name: str) -> None:
    agree(BOTH[name], drawn(2, 3, 4, seed=4), drawn(2, 3, 4, seed=5))


def test_an_embedding_adds_up_gradients_of_a_row() -> None:
    rows = torch.tensor([[1, 4, 1], [0, 1, 4]])
    agree(lambda weight: F.embedding(rows, weight, padding_idx=0), drawn(5, 2, seed=1))


@pytest.mark.parametrize("function", [lambda x: F.dropout(x, 0.5), torch.rand_like, torch.fft.fft])
def test_what_has_no_lifted_meaning_is_unsupported(function: Function) -> None:
    x = LiftedTensor(numbers.drawn(torch.ones(3), 1))
    with pytest.raises(Undecided, match="unsupported"), Lifting():
        function(x)


def test_integers_and_flags_stay_ordinary_and_become_constants() -> None:
    with Lifting():
        steps = torch.arange(3)
        halves = steps / 2
        mask = (halves > 0.6).float()
    assert type(steps) is torch.Tensor
    assert values_of(halves).tolist() == [0.0, 0.5, 1.0]
    assert values_of(mask).tolist() == [0.0, 0.0, 1.0]
