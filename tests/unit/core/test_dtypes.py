"""Element types are found by every name in use."""

from __future__ import annotations

import pytest
import torch

from warpwright.core.dtypes import DTYPES, DType, dtype_named
from warpwright.core.errors import UsageError


@pytest.mark.parametrize("dtype", DTYPES.values(), ids=DTYPES)
def test_a_dtype_is_found_by_our_name_and_by_torchs(dtype: DType) -> None:
    assert dtype_named(dtype.name) is dtype_named(dtype.torch) is dtype_named(f"torch.{dtype.torch}") is dtype


@pytest.mark.parametrize(
    ("spelling", "name"), [("half", "fp16"), ("f32", "fp32"), ("float", "fp32"), ("double", "fp64")]
)
def test_common_short_spellings_are_found(spelling: str, name: str) -> None:
    assert dtype_named(spelling).name == name


@pytest.mark.parametrize("name", ["fp7", "", "torch.", "FP32", "T"])
def test_unknown_names_are_usage_errors(name: str) -> None:
    with pytest.raises(UsageError, match="unknown dtype"):
        dtype_named(name)


def test_epsilon_is_the_step_above_one() -> None:
    for dtype in DTYPES.values():
        if dtype.floating:
            assert dtype.epsilon == torch.finfo(getattr(torch, dtype.torch)).eps
        else:
            with pytest.raises(ValueError, match="not a floating type"):
                _ = dtype.epsilon


def test_sizes_are_those_of_torch() -> None:
    for dtype in DTYPES.values():
        assert dtype.bytes == getattr(torch, dtype.torch).itemsize


def test_eight_bit_floats_are_quantised_and_no_others() -> None:
    assert {dtype.name for dtype in DTYPES.values() if dtype.quantised} == {"e4m3", "e5m2"}
