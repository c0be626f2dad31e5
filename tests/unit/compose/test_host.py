"""Host code of composed sources: what it asks of its arguments, and what it cannot be asked for."""

from __future__ import annotations

from pathlib import Path

import pytest

from warpwright.compose import CannotCompose
from warpwright.compose import plan as plan_of
from warpwright.tasks import load


def checked(host) -> list[str]:
    """The calls of `check`, in order."""
    return [host.statements[place].value.text for place in host.calls("check")]


def test_every_argument_that_is_read_must_lie_as_kernels_read_it(composed) -> None:
    host = composed("paper/layernorm:backward").function("backward")
    assert checked(host) == [
        "check(grad_y, {B, C, H, W})",
        "check(mean, {B})",
        "check(rstd, {B})",
        "check(x, {B, C, H, W})",
        "check(weight, {C, H, W})",
    ]
    made_contiguous, first_check = min(host.assigns("grad_y")), min(host.calls("check"))
    (handed_over,) = [
        place for place, node in enumerate(host.statements) if node in host.returns_of("backward_of_one_row")
    ]
    assert made_contiguous < first_check < handed_over


def test_what_one_function_has_checked_is_not_checked_by_the_one_that_it_calls(composed) -> None:
    assert checked(composed("paper/layernorm:backward").function("backward_of_one_row")) == []


def test_every_tensor_of_a_list_is_checked(composed) -> None:
    assert "check(each, each.sizes())" in checked(composed("modern/adamw:forward").function("forward"))


def test_sizes_come_in_the_order_of_the_arguments(composed) -> None:
    host = composed("modern/group_norm_silu:forward").function("forward")
    assert [let.name for let in host.lets if let.value.text.startswith("x.size(")] == ["N", "C", "H", "W"]


@pytest.mark.parametrize("code", ["torch.softmax(x * y, -1)", "x @ y.T"])
def test_longer_floats_than_it_computes_in_are_refused(tmp_path: Path, code: str) -> None:
    path = tmp_path / "ref.py"
    path.write_text(f"import torch\n\ndef f(x, y):\n    return {code}\n")
    (task,) = load(f"{path}:f", inputs=["8,16:fp64", "8,16:fp64"], direction="forward")
    with pytest.raises(CannotCompose, match="float64"):
        plan_of(task)
