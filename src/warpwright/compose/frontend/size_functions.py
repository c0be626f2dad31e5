"""Replaces torch functions that convert sizes to numbers on their way to ATen."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any


@contextmanager
def written_out() -> Iterator[None]:
    """Replaces these functions while tracing inside."""
    import torch
    import torch.nn.functional as functional
    from torch.overrides import TorchFunctionMode

    written = {
        functional.instance_norm: _instance_norm,
        functional.max_pool1d: _max_pool1d,
        functional.max_pool1d_with_indices: _max_pool1d_with_indices,
        torch.max_pool1d: _max_pool1d,
    }

    class Instead(TorchFunctionMode):
        def __torch_function__(self, func: Any, types: Any, args: Any = (), kwargs: Any = None) -> Any:
            return written.get(func, func)(*args, **(kwargs or {}))

    with Instead(), _indifferent_norms():
        yield


@contextmanager
def _indifferent_norms() -> Iterator[None]:
    """Skips the check of the number of channels in norms without parameters, which only warns."""
    from unittest.mock import patch

    from torch.nn.modules.instancenorm import _InstanceNorm

    asking = _InstanceNorm.forward

    def forward(module: Any, x: Any) -> Any:
        if module.affine or x.dim() == module._get_no_batch_dim():
            return asking(module, x)
        module._check_input_dim(x)
        return module._apply_instance_norm(x)

    with patch.object(_InstanceNorm, "forward", forward):
        yield


def _max_pool1d(x: Any, *window: Any, return_indices: bool = False, **named: Any) -> Any:
    found = _max_pool1d_with_indices(x, *window, **named)
    return found if return_indices else found[0]


def _max_pool1d_with_indices(
    x: Any,
    kernel_size: Any,
    stride: Any = None,
    padding: Any = 0,
    dilation: Any = 1,
    ceil_mode: bool = False,
    return_indices: bool = True,
) -> tuple[Any, Any]:
    """Lowers 1-D pooling as 2-D pooling of images with height 1."""
    import torch

    size, step, margin, apart = (_single(item) for item in (kernel_size, stride or kernel_size, padding, dilation))
    image = x.unsqueeze(-2)
    pooled = torch.ops.aten.max_pool2d_with_indices(image, [1, size], [1, step], [0, margin], [1, apart], ceil_mode)
    return pooled[0].squeeze(-2), pooled[1].squeeze(-2)


def _single(item: Any) -> Any:
    return item[0] if isinstance(item, list | tuple) else item


def _instance_norm(
    x: Any,
    running_mean: Any = None,
    running_var: Any = None,
    weight: Any = None,
    bias: Any = None,
    use_input_stats: bool = True,
    momentum: float = 0.1,
    eps: float = 1e-5,
) -> Any:
    """Instance norm; running statistics are left to torch."""
    import torch
    import torch.nn.functional as functional

    if running_mean is not None or not use_input_stats:
        return functional.instance_norm(x, running_mean, running_var, weight, bias, use_input_stats, momentum, eps)
    variance, mean = torch.var_mean(x, list(range(2, x.dim())), correction=0, keepdim=True)
    normed = (x - mean) * torch.rsqrt(variance + eps)
    channels = [-1, *[1] * (x.dim() - 2)]
    normed = normed if weight is None else normed * weight.reshape(channels)
    return normed if bias is None else normed + bias.reshape(channels)
