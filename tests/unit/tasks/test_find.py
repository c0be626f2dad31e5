"""Tasks are found by name or path."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import pytest

from warpwright.core.errors import Exit, UsageError
from warpwright.core.task import Direction
from warpwright.tasks import all_tasks, find, load
from warpwright.tasks.find import suites_root

SAMPLES = Path(__file__).parent / "samples"


def test_a_name_finds_its_task_in_every_direction_forward_first() -> None:
    found = load("llama_rmsnorm")
    assert found == load("paper/llama_rmsnorm")
    assert [task.direction for task in found] == list(Direction)
    assert {task.suite for task in found} == {"paper"}


def test_a_direction_may_be_given_in_the_name_or_as_an_option() -> None:
    (task,) = load("llama_rmsnorm:backward")
    assert task.direction is Direction.BACKWARD
    assert load("llama_rmsnorm", direction="backward") == (task,)


def test_a_folder_of_ours_is_a_task_without_a_suite() -> None:
    found = load(str(suites_root() / "paper" / "llama_rmsnorm"))
    assert {task.key for task in found} == {f"llama_rmsnorm:{direction}" for direction in Direction}


def test_tasks_of_suites_have_unique_keys() -> None:
    tasks = all_tasks("paper")
    assert {task.suite for task in tasks} == {"paper"}
    assert len({task.key for task in tasks}) == len(tasks)
    assert {task.id for task in tasks} <= {task.id for task in all_tasks()}


def test_a_name_in_two_suites_is_ambiguous(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    for suite in ("one", "two"):
        (tmp_path / suite / "same").mkdir(parents=True)
        (tmp_path / suite / "same" / "task.toml").touch()
    monkeypatch.setattr(find, "suites_root", lambda: tmp_path)
    with pytest.raises(UsageError, match="more than one suite; write one/same or two/same"):
        load("same")


MISTAKES = {
    "near name": ("llama_rmsnrm", None, "did you mean .*llama_rmsnorm"),
    "near name in a suite": ("paper/layernrm", None, "did you mean .*layernorm"),
    "far name": ("quite_another_thing_altogether", None, "no task 'quite_another"),
    "unknown direction": ("llama_rmsnorm", "sideways", "'sideways' is not a direction"),
    "two directions": ("llama_rmsnorm:forward", "backward", "give one of them"),
    "missing path": (f"{SAMPLES}/nowhere", None, "no such file or directory"),
    "empty directory": (str(SAMPLES), None, "neither task.toml nor func_forward.py"),
    "file without a name": (f"{SAMPLES}/functions/reference.py", None, "write .*reference.py:NAME"),
    "direction that is not there": (f"{SAMPLES}/robust_kbench/saved_norm", "forward", "has no forward direction"),
}


@pytest.mark.parametrize(("spec", "direction", "sentence"), MISTAKES.values(), ids=MISTAKES)
def test_mistakes_are_one_clear_sentence(spec: str, direction: str | None, sentence: str) -> None:
    with pytest.raises(UsageError, match=sentence) as caught:
        load(spec, direction=direction)
    assert caught.value.exit_code == Exit.WRONG_USE


def test_inputs_go_with_functions_only() -> None:
    with pytest.raises(UsageError, match="brings its own inputs"):
        load("llama_rmsnorm", inputs=["4,4"])


def test_an_unknown_suite_is_named() -> None:
    with pytest.raises(UsageError, match="no suite 'papr'; did you mean paper"):
        all_tasks("papr")


def test_finding_tasks_does_not_import_torch() -> None:
    code = "import sys; from warpwright.tasks import all_tasks; all_tasks(); sys.exit('torch' in sys.modules)"
    subprocess.run([sys.executable, "-c", code], check=True, timeout=240)
