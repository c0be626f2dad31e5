"""Rounding, against torch's own."""

from __future__ import annotations

import numpy as np
import pytest
import torch
from hypothesis import given, settings
from hypothesis import strategies as st

from warpwright.ttir.numbers import from_memory, rounded, tf32, to_memory

_FLOATS = st.lists(st.floats(width=32), min_size=1, max_size=20)
_TORCH = {"bf16": torch.bfloat16, "f16": torch.float16, "f8E5M2": torch.float8_e5m2, "f8E4M3FN": torch.float8_e4m3fn}


@pytest.mark.parametrize("element", ["bf16", "f16"])
@settings(deadline=None)
@given(values=_FLOATS)
def test_rounding_is_torchs(element: str, values: list[float]) -> None:
    given_values = np.array(values, np.float32)
    right = torch.from_numpy(given_values).to(_TORCH[element]).float().numpy()
    assert np.array_equal(rounded(given_values, element).astype(np.float32), right, equal_nan=True)


@pytest.mark.parametrize(("element", "largest"), [("f8E5M2", 57344.0), ("f8E4M3FN", 448.0)])
@settings(deadline=None)
@given(values=_FLOATS)
def test_eight_bits_round_as_torch_and_saturate(element: str, largest: float, values: list[float]) -> None:
    given_values = np.clip(np.array(values, np.float32), -largest, largest)
    right = torch.from_numpy(given_values).to(_TORCH[element]).float().numpy()
    assert np.array_equal(rounded(given_values, element), right, equal_nan=True)
    assert rounded(np.float32([1e30]), element)[0] == largest


@pytest.mark.parametrize("element", ["bf16", "f8E5M2", "f8E4M3FN"])
def test_every_pattern_survives_memory(element: str) -> None:
    bits = np.arange(256, dtype=np.uint8) if element != "bf16" else np.arange(0, 65536, 7, dtype=np.uint16)
    values = from_memory(bits, element)
    numbers = np.isfinite(values)
    assert (to_memory(values, element)[numbers] == bits[numbers]).all()


def test_tf32_keeps_ten_bits() -> None:
    assert tf32(np.float32([1 + 2**-10, 1 + 2**-11, -1 - 2**-11])).tolist() == [1 + 2**-10, 1.0, -1.0]
