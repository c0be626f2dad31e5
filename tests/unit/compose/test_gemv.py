"""A matrix times a vector: which functions it serves, and the order of what its kernel does."""

from __future__ import annotations

import pytest

from warpwright.compose.code.passes.order import parted
from warpwright.compose.code.statements import Assign, Let, under
from warpwright.compose.code.text import code


def test_packs_of_all_rows_are_asked_for_before_the_first_is_looked_into(composed) -> None:
    kernel = composed("modern/matmul_small:forward").function("_gemv_kernel")
    asked = [*kernel.calls("load_words", reading=("weight",)), *kernel.calls("load", reading=("x",))]
    assert max(asked) < min(kernel.calls("unpack"))


def test_bytes_are_read_in_whole_packs_and_scaled_after_the_sum(composed) -> None:
    found = composed("modern/int8_linear:forward")
    kernel = found.function("_gemv_kernel")
    assert found.function("_gemv").value("VEC") == "16 / sizeof(int8_t)"
    assert kernel.reads("sum_of_unpacked_times_x", "scales_of_row", "bias_of_row") == kernel.declares("total")


def test_what_needs_no_sum_is_read_before_it() -> None:
    scale, scaled = Let("const float", "a", code("{s}[row]")), Let("const float", "b", code("{sum} * {a}"))
    later, stored = Let("const float", "c", code("{b} + 1")), under("x", [Assign(code("{y}[row]"), code("{a}"))])
    assert parted([scale, scaled, later, stored], "sum") == ([scale], [scaled, later, stored])


def test_a_block_takes_as_many_rows_and_threads_as_its_knobs_say(composed) -> None:
    found = composed("modern/matmul_small:forward", across_rows=2, across_block=256)
    assert found.shapes("gemv") == [(16, 256, 2)]
    (launch,) = found.function("_gemv").launches
    assert (launch.grid.text, launch.threads.text) == ("(rows + 1) / 2", "256")


MATRIX, ROW, COLUMN = "2048,2048:bf16", "2048:bf16", "2048,1:bf16"


@pytest.mark.parametrize("body", ["(x * w).sum(-1) + s[:, 0]", "torch.relu((x * s * w * 3.0).sum(-1))"])
def test_rows_that_have_a_factor_in_common_are_served(function_of, body: str) -> None:
    assert "gemv" in function_of("x, w, s", f"return {body}", MATRIX, ROW, COLUMN).serving()


@pytest.mark.parametrize(
    ("body", "matrix"),
    [
        ("(x * s).sum(-1) + w.sum()", MATRIX),  # Nothing in common.
        ("((x - s) * w).sum(-1)", MATRIX),  # Each row takes something of its own into the sum.
        ("(x * w).amax(-1) + s[:, 0]", MATRIX),
        ("(x * w).sum(-1, keepdim=True) * x * s", MATRIX),  # Read again.
        ("(x * w[:512]).sum(-1) + s[:, 0]", "2048,512:bf16"),
    ],
)
def test_all_others_are_not(function_of, body: str, matrix: str) -> None:
    assert "gemv" not in function_of("x, w, s", f"return {body}", matrix, ROW, COLUMN).serving()


def test_few_rows_are_not_either(function_of) -> None:
    found = function_of("x, w, s", "return (x * w).sum(-1) + s[:, 0]", "512,2048:bf16", ROW, "512,1:bf16")
    assert "gemv" not in found.serving()
