"""Tensors as bytes and back: values, layout and dtype survive, and bytes that do not fit give None."""

from __future__ import annotations

import pytest
import torch

from warpwright.oracle.inputs.storage import from_bytes, to_bytes

TENSORS = {
    "contiguous": ("fp32", torch.arange(12.0).reshape(3, 4)),
    "transposed": ("fp32", torch.arange(12.0).reshape(3, 4).t()),
    "window": ("bf16", torch.arange(12, dtype=torch.bfloat16).reshape(3, 4)[1:, 1:]),
    "expanded": ("fp16", torch.ones(1, dtype=torch.float16).expand(4, 5)),
    "scalar": ("int64", torch.tensor(3)),
    "empty": ("fp32", torch.empty(0, 3)),
    "eight bits": ("e4m3", torch.arange(4.0).to(torch.float8_e4m3fn)),
    "flags": ("bool", torch.tensor([True, False])),
}


@pytest.mark.parametrize("name", TENSORS)
def test_a_tensor_survives_conversion_to_bytes(name: str) -> None:
    dtype, tensor = TENSORS[name]
    back = from_bytes(to_bytes(tensor), dtype, tensor.shape, tensor.stride())
    assert back is not None
    assert (back.shape, back.stride(), back.dtype) == (tensor.shape, tensor.stride(), tensor.dtype)
    assert torch.equal(back.float(), tensor.float())


def test_a_tensor_may_start_at_an_offset() -> None:
    data = to_bytes(torch.arange(6.0))
    found = from_bytes(data, "fp32", (2,), (2,), offset=8)
    assert found is not None
    assert found.tolist() == [2.0, 4.0]


@pytest.mark.parametrize(
    ("shape", "stride", "offset"), [((7,), (1,), 0), ((6,), (1,), 4), ((2,), (-1,), 8), ((1,), (1,), -4)]
)
def test_a_tensor_that_does_not_fit_is_none(shape: tuple[int], stride: tuple[int], offset: int) -> None:
    assert from_bytes(to_bytes(torch.arange(6.0)), "fp32", shape, stride, offset) is None
