"""Rows that a block takes several of: which ones, and what their text must have to be fast."""

from __future__ import annotations

from functools import cache
from pathlib import Path

import pytest

from warpwright.compose import plan as plan_of
from warpwright.compose.code.passes.order import parted
from warpwright.compose.code.statements import Assign, Let, under
from warpwright.compose.code.text import code
from warpwright.tasks import load


@cache
def source(name: str, **genome: object) -> str:
    (task,) = load(name)
    return plan_of(task).write(genome)


def own(folder: Path, body: str, *inputs: str) -> str:
    path = folder / "ref.py"
    path.write_text(f"import torch\n\ndef f(x, w, s):\n    return {body}\n", encoding="utf-8")
    (task,) = load(f"{path}:f", inputs=list(inputs), direction="forward")
    return plan_of(task).write({})


def test_packs_of_all_rows_are_asked_for_before_the_first_is_looked_into() -> None:
    text = source("modern/matmul_small:forward")
    kernel = text[text.index("rows_gemv_kernel(") :]
    asked = [
        kernel.index(part) for part in ("weight_words[r] = load_words<VEC>(", "x_pack = load<VEC>(", "unpack<T, VEC>(")
    ]
    assert asked == sorted(asked)
    assert "rows_gemv_kernel<T, VEC, 256, 4>;" in text
    assert "if (!launch_matmul_small_forward_of_one_row_rows_gemv<scalar_t>(weight, x, y, N, K)) {" in text


def test_bytes_come_in_whole_packs_and_their_scale_after_the_sum() -> None:
    text = source("modern/int8_linear:forward")
    assert "constexpr int VEC = 16 / sizeof(int8_t);" in text
    assert "rows_gemv_kernel<T, VEC, 128, 4>;" in text
    assert "const float total = sum_of_unpacked_times_x * scales_of_row + bias_of_row;" in text


def test_what_needs_no_sum_is_read_before_it() -> None:
    scale, scaled = Let("const float", "a", code("{s}[row]")), Let("const float", "b", code("{sum} * {a}"))
    later, stored = Let("const float", "c", code("{b} + 1")), under("x", [Assign(code("{y}[row]"), code("{a}"))])
    assert parted([scale, scaled, later, stored], "sum") == ([scale], [scaled, later, stored])


def test_a_block_takes_as_many_rows_and_threads_as_its_genes_say() -> None:
    text = source("modern/matmul_small:forward", across_rows=2, across_block=256)
    assert "rows_gemv_kernel<T, VEC, 256, 2>;" in text
    assert "kernel<<<(rows + 1) / 2, 256, 0," in text


MATRIX, ROW, COLUMN = "2048,2048:bf16", "2048:bf16", "2048,1:bf16"


@pytest.mark.parametrize("body", ["(x * w).sum(-1) + s[:, 0]", "torch.relu((x * s * w * 3.0).sum(-1))"])
def test_rows_that_have_a_factor_in_common_go_together(tmp_path: Path, body: str) -> None:
    assert "launch_f_rows_gemv<" in own(tmp_path, body, MATRIX, ROW, COLUMN)


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
def test_all_others_do_not(tmp_path: Path, body: str, matrix: str) -> None:
    assert "_gemv" not in own(tmp_path, body, matrix, ROW, COLUMN)


def test_few_rows_do_not_either(tmp_path: Path) -> None:
    text = own(tmp_path, "(x * w).sum(-1) + s[:, 0]", "512,2048:bf16", ROW, "512,1:bf16")
    assert "_gemv" not in text
