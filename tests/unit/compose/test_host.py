"""Host code of composed sources: what it asks of its arguments, and what it cannot be asked for."""

from __future__ import annotations

import re
from functools import cache
from pathlib import Path

import pytest

from warpwright.compose import CannotCompose
from warpwright.compose import plan as plan_of
from warpwright.tasks import load


@cache
def source(name: str) -> str:
    (task,) = load(name)
    return plan_of(task).write({})


def test_every_argument_that_is_read_must_lie_as_kernels_read_it() -> None:
    host = source("paper/layernorm:backward").partition("> backward(")[2]
    asked = re.findall(r"check\((\w+), \{([\w, ]+)\}\);", host)
    assert asked == [
        ("grad_y", "B, C, H, W"),
        ("mean", "B"),
        ("rstd", "B"),
        ("x", "B, C, H, W"),
        ("weight", "C, H, W"),
    ]
    assert host.index("grad_y = grad_y.contiguous();") < host.index("check(grad_y") < host.index("backward_of_one_row(")


def test_what_one_function_has_checked_is_not_checked_by_the_one_that_it_calls() -> None:
    of_one_row = source("paper/layernorm:backward").partition("> backward_of_one_row(")[2].partition("\n}\n")[0]
    assert "check(" not in of_one_row


def test_every_tensor_of_a_list_is_checked() -> None:
    assert "for (const auto& each : params) check(each, each.sizes());" in source("modern/adamw:forward")


def test_sizes_come_in_the_order_of_the_arguments() -> None:
    host = source("modern/group_norm_silu:forward").partition("torch::Tensor forward(")[2]
    assert re.findall(r"const int64_t (\w+) = x.size", host) == ["N", "C", "H", "W"]


@pytest.mark.parametrize("code", ["torch.softmax(x * y, -1)", "x @ y.T"])
def test_longer_floats_than_it_computes_in_are_refused(tmp_path: Path, code: str) -> None:
    path = tmp_path / "ref.py"
    path.write_text(f"import torch\n\ndef f(x, y):\n    return {code}\n")
    (task,) = load(f"{path}:f", inputs=["8,16:fp64", "8,16:fp64"], direction="forward")
    with pytest.raises(CannotCompose, match="float64"):
        plan_of(task)
