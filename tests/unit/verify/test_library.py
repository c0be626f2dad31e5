"""Torch operations on the CPU: an operation that cannot run there is undecided, never our fault."""

from __future__ import annotations

from dataclasses import replace

import pytest

from warpwright.core.launch.plan import Library, View
from warpwright.seal.refusal import Refused
from warpwright.verify.library import execute_on_cpu


def added(shape: tuple[int, ...], dtype: str) -> Library:
    view = View(buffer=0, offset=0, shape=shape, stride=(1,), dtype=dtype)
    return Library(operation="relu", inputs=(view,), outputs=(view,))


@pytest.mark.parametrize(("shape", "dtype"), [((1 << 60,), "fp32"), ((4,), "complex64")])
def test_a_tensor_too_large_for_cpu_memory_is_undecided(shape: tuple[int, ...], dtype: str) -> None:
    with pytest.raises(Refused) as refused:
        execute_on_cpu(added(shape, dtype), [None])
    assert (refused.value.refusal.reason or "").startswith("unsupported: library at::relu on the CPU")


def test_an_operation_missing_from_our_headers_is_not_executed() -> None:
    one = replace(added((2,), "fp32"), operation="from_file")
    with pytest.raises(Refused, match="at::from_file"):
        execute_on_cpu(one, [bytes(8)])


def test_a_supported_operation_is_executed() -> None:
    one = added((2,), "fp32")
    assert execute_on_cpu(one, [b"\0\0\x80\xbf\0\0\x80\x3f"]) == b"\0\0\0\0\0\0\x80\x3f"
