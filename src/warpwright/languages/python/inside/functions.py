"""Functions of torch that are seen before torch takes them apart, or that have no meaning without a GPU."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Any

import torch
from torch.overrides import TorchFunctionMode

from warpwright.languages.python.inside.outcomes import reads_device_data, unsupported
from warpwright.languages.python.inside.tensors import Recording

_READS = {torch.Tensor.tolist: "tolist", torch.Tensor.numpy: "numpy", torch.Tensor.__array__: "numpy"}


class Functions(TorchFunctionMode):
    """Sees every call of a function of torch."""

    def __init__(self, recording: Recording) -> None:
        super().__init__()
        self.recording = recording
        torch.compile = _itself  # type: ignore[assignment]
        torch.jit.script = _itself  # type: ignore[assignment]
        torch.jit.script_if_tracing = _itself  # type: ignore[assignment]

    def __torch_function__(
        self, func: Callable[..., Any], types: Any, args: Sequence[Any] = (), kwargs: Mapping[str, Any] | None = None
    ) -> Any:
        kwargs = kwargs or {}
        if func in _READS:
            return self._read(_READS[func], args[0])
        if func is torch.Tensor.data_ptr:
            return self.recording.recorder.address(args[0])
        if func is torch.nn.functional.scaled_dot_product_attention:
            return self._attention(*args, **kwargs)
        if func is torch.Tensor.pin_memory:
            return args[0]
        return func(*args, **kwargs)

    def _read(self, name: str, tensor: torch.Tensor) -> Any:
        data = self.recording.data_of(tensor)
        if data is None:
            self.recording.recorder.refuse(reads_device_data(name))
        assert data is not None
        with torch.utils._python_dispatch._disable_current_modes():
            return getattr(data, name)()

    def _attention(
        self,
        query: torch.Tensor,
        key: torch.Tensor,
        value: torch.Tensor,
        attn_mask: torch.Tensor | None = None,
        dropout_p: float = 0.0,
        is_causal: bool = False,
        scale: float | None = None,
        enable_gqa: bool = False,
    ) -> torch.Tensor:
        """One operation: which kernel serves it is the GPU's choice."""
        if dropout_p:
            self.recording.recorder.refuse(unsupported("random numbers (scaled_dot_product_attention)"))
        recorder = self.recording.recorder
        result = query.new_empty((*query.shape[:-1], value.shape[-1]))
        mask = None if attn_mask is None else self.recording.operand(attn_mask)
        options = {"dropout_p": 0.0, "is_causal": is_causal, "enable_gqa": enable_gqa}
        options |= {} if scale is None else {"scale": scale}
        inputs = [*(self.recording.operand(item) for item in (query, key, value)), mask]
        recorder.operation("scaled_dot_product_attention", inputs, [recorder.view(result)], options)
        return result


def _itself(function: Any = None, *_: Any, **__: Any) -> Any:
    """A compiler that changes nothing: the plan holds the operations that it would be given."""
    return function if function is not None else lambda given: given
