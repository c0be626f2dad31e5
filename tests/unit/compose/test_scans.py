"""Running sums: which kernel takes them, and what its text must have."""

from __future__ import annotations

from functools import cache
from pathlib import Path

import pytest

from warpwright.compose import plan as plan_of
from warpwright.tasks import load


@cache
def source(name: str, **genome: object) -> str:
    (task,) = load(name)
    return plan_of(task).write(genome)


def kernel(text: str, name: str) -> str:
    """Its statements."""
    return text.partition(f" {name}(")[2].partition("\n}")[0]


def test_few_long_rows_are_drawn_piece_by_piece() -> None:
    text = source("modern/cumsum:forward")
    assert "piece_scan_kernel<T, T, VEC, 256, 16 / VEC, false>" in text
    assert "const int64_t pieces = (columns + 4095) / 4096, count = rows * pieces;" in text
    assert "std::min<int64_t>(count, 4 * processors), 256" in text
    assert "piece_scan_kernel<T, T, VEC, 512, 16 / VEC, true>" in source("modern/cumsum:backward", scan_pieces=512)


def test_they_can_be_scanned_in_two_kernels_too() -> None:
    text = source("modern/cumsum:forward", scan_pieces=0)
    assert "piece_scan" not in text
    assert "piece_sums_kernel<T, VEC, 256, false>" in text


def test_a_piece_waits_for_no_block_that_may_not_have_started() -> None:
    """Its own number is good for a guess at what it will draw, and for nothing else."""
    guessed, _, scan = kernel(source("modern/cumsum:forward"), "piece_scan_kernel").partition("grid_dependency_wait();")
    assert "prefetch_l2(address_of(blockIdx.x, place));" in guessed
    assert "blockIdx" not in scan
    assert scan.count("atomicAdd(published + count, 1ull)") == 2


def test_the_next_piece_is_under_way_before_this_one_waits() -> None:
    scan = kernel(source("modern/cumsum:forward"), "piece_scan_kernel")
    assert scan.index("publish(published") < scan.index("fetch(next);") < scan.index("sum_of_published(published")


def test_what_pieces_publish_is_emptied_without_holding_up_the_scan() -> None:
    text = source("modern/cumsum:forward")
    clear = kernel(text, "clear_published_kernel")
    assert "grid_dependency_wait();" in kernel(text, "piece_scan_kernel")
    assert "grid_dependency_wait();" not in clear
    assert clear.index("launch_dependents") < clear.index("griddepcontrol.wait") < clear.index("= 0;")


@pytest.mark.parametrize(
    ("code", "shape", "in_pieces"),
    [
        ("cumsum", "8,400000:fp32", True),
        ("cumsum", "4096,400000:fp32", False),
        ("cumsum", "8,4000:fp32", False),
        ("cumprod", "8,400000:fp32", False),
    ],
)
def test_only_sums_of_few_long_rows_are(tmp_path: Path, code: str, shape: str, in_pieces: bool) -> None:
    path = tmp_path / "ref.py"
    path.write_text(f"import torch\n\ndef f(x):\n    return x.{code}(-1)\n", encoding="utf-8")
    (task,) = load(f"{path}:f", inputs=[shape], direction="forward")
    assert ("piece_scan" in plan_of(task).write({})) is in_pieces


def test_a_scan_that_is_one_of_several_parts_is_copied_to_its_place(tmp_path: Path) -> None:
    path = tmp_path / "ref.py"
    code = "torch.cat((torch.zeros_like(x[:, :1]), torch.cumsum(x[:, :-1], dim=1)), dim=1)"
    path.write_text(f"import torch\n\ndef f(x):\n    return {code}\n", encoding="utf-8")
    (task,) = load(f"{path}:f", inputs=["64,32:fp32"], direction="forward")
    host = plan_of(task).write({}).partition("torch::Tensor forward(")[2]
    assert host.index("launch_f_scan<scalar_t>(slice, scan") < host.index("(scan, y,")
