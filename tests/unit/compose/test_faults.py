"""Bugs of the composer are faults; what it has no lowering for, and what torch refuses, is an answer."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest
from typer.testing import CliRunner

from warpwright.cli.main import app
from warpwright.compose import CannotCompose
from warpwright.compose import plan as plan_of
from warpwright.compose.frontend.lowering import pointwise  # noqa: F401  registers its handlers
from warpwright.compose.frontend.lowering.lower import HANDLERS
from warpwright.compose.survey import surveyed
from warpwright.core.errors import OurFault
from warpwright.core.task import Task
from warpwright.tasks import load


def task_of(folder: Path, body: str, *inputs: str) -> Task:
    (folder / "ref.py").write_text(f"import torch\n\ndef f(x):\n    {body}\n", encoding="utf-8")
    (task,) = load(f"{folder / 'ref.py'}:f", inputs=list(inputs), direction="forward")
    return task


@pytest.fixture
def broken_tanh(monkeypatch: pytest.MonkeyPatch) -> None:
    def handler(low: Any, x: Any) -> Any:
        return x.no_such_attribute

    monkeypatch.setitem(HANDLERS, "tanh", handler)


@pytest.mark.usefixtures("broken_tanh")
def test_a_bug_in_a_lowering_is_our_fault_and_keeps_its_traceback(tmp_path: Path) -> None:
    with pytest.raises(OurFault, match=r"compose: planning .*AttributeError.*no_such_attribute") as caught:
        plan_of(task_of(tmp_path, "return torch.tanh(x)", "8,64:fp32"))
    assert isinstance(caught.value.__cause__, AttributeError)


@pytest.mark.usefixtures("broken_tanh")
def test_a_sweep_counts_faults_apart_and_goes_on(tmp_path: Path) -> None:
    fault, source = (
        surveyed(task_of(tmp_path, f"return torch.{name}(x)", "8,64:fp32")) for name in ("tanh", "sigmoid")
    )
    assert fault.fault is not None
    assert not fault.sources
    assert source.fault is None
    assert source.sources


@pytest.mark.usefixtures("broken_tanh")
def test_the_command_line_ends_with_our_fault(tmp_path: Path) -> None:
    path = tmp_path / "ref.py"
    path.write_text("import torch\n\ndef f(x):\n    return torch.tanh(x)\n")
    words = ["compose", f"{path}:f", "--input", "8,64:fp32", "--out", str(tmp_path / "out"), "--no-check"]
    told = CliRunner().invoke(app, [*words, "--json"])
    assert told.exit_code == 4, told.output
    assert [item["our_fault"] for item in json.loads(told.stdout)["composed"]] == [True]
    shown = CliRunner().invoke(app, ["--debug", *words])
    assert "no_such_attribute" in shown.output
    assert "Traceback" in shown.output + shown.stderr


def test_what_the_function_or_torch_refuses_while_it_is_traced_is_an_answer(tmp_path: Path) -> None:
    with pytest.raises(CannotCompose, match="cannot be traced"):
        plan_of(task_of(tmp_path, "return x if float(x.sum()) > 0 else -x", "8,64:fp32"))


def test_what_torch_refuses_in_cpp_below_our_own_frames_is_an_answer(tmp_path: Path) -> None:
    """An LSTM asks for the number of elements of a tensor whose sizes are symbols."""
    body = "return torch.nn.LSTM(64, 16)(x)[0]"
    with pytest.raises(CannotCompose, match="cannot be traced"):
        plan_of(task_of(tmp_path, body, "8,4,64:fp32"))


def test_arguments_that_a_lowering_does_not_take_are_an_answer(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(HANDLERS, "tanh", lambda low: None)
    with pytest.raises(CannotCompose, match=r"aten\.tanh with such arguments"):
        plan_of(task_of(tmp_path, "return torch.tanh(x)", "8,64:fp32"))
