"""`warpwright tasks`: what it lists, shows and checks, for people and for programs."""

from __future__ import annotations

import json

import pytest
from typer.testing import CliRunner

from warpwright.cli.main import app
from warpwright.cli.tasks.contract import duration
from warpwright.core.errors import Exit
from warpwright.verify.admission import Admission, ControlResult, HonestResult

GOOD = Admission(
    task="paper/good:forward",
    controls=(
        ControlResult(name="zeros", refuted=True, how="all wrong"),
        ControlResult(name="lower precision", refuted=False, how="exempt", exempt="outputs are indices"),
        ControlResult(name="stale", refuted=None, how="cannot be built here"),
    ),
    honest=(HonestResult(name="other order", passed=True, why="accepted"),),
    draws=7,
    seconds=1.25,
)
BAD = Admission(
    task="paper/bad:forward",
    controls=(ControlResult(name="mean", refuted=False, how="accepted on all [7] draws"),),
    honest=(HonestResult(name="double", passed=False, why="worst at [0, 1]"),),
    problems=("the reference is not deterministic",),
)


def run(*arguments: str):
    return CliRunner().invoke(app, arguments)


def document(*arguments: str):
    result = run(*arguments, "--json")
    assert result.exit_code == 0, result.stderr
    return json.loads(result.stdout)


@pytest.fixture
def admitting(monkeypatch: pytest.MonkeyPatch):
    """Makes admission answer with what is given, and records what it was asked."""
    asked: list[str] = []

    def answer(*answers: Admission) -> list[str]:
        def parallel(function, items, **options) -> list[Admission]:
            asked.extend(item.key for item in items)
            return list(answers)

        monkeypatch.setattr("warpwright.dispatch.pool.parallel", parallel)
        return asked

    return answer


def test_list_names_every_task_for_programs() -> None:
    listed = document("tasks", "list")
    assert listed["schema"] == "warpwright.tasks.list/1"
    keys = [task["key"] for task in listed["tasks"]]
    assert len(keys) == len(set(keys)) >= 45
    assert {"paper", "modern"} <= {task["suite"] for task in listed["tasks"]}
    assert all(task["cases"]["check"] and task["cases"]["time"] for task in listed["tasks"])


def test_list_shows_a_row_per_function_for_people() -> None:
    shown = run("tasks", "list", "--suite", "paper")
    assert shown.exit_code == 0
    assert "paper/layernorm" in shown.stdout
    assert "modern/" not in shown.stdout
    assert "Next: warpwright tasks show NAME" in shown.stdout


@pytest.mark.parametrize(
    "arguments",
    [
        ("tasks", "list", "--suite", "nowhere"),
        ("tasks", "show", "layernrom"),
        ("tasks", "show", "layernorm", "--gpu", "banana"),
        ("tasks", "show", "layernorm:sideways"),
        ("tasks", "show", "missing/ref.py:fn", "--input", "8,8:fp32"),
        ("tasks", "check", "layernorm", "--suite", "paper"),
        ("tasks", "check", "--input", "8,8:fp32"),
    ],
    ids=" ".join,
)
def test_wrong_use_is_one_sentence(arguments: tuple[str, ...]) -> None:
    result = run(*arguments)
    assert result.exit_code == Exit.WRONG_USE
    assert result.stderr.startswith("warpwright: ")
    assert result.stderr.count("\n") == 1
    assert result.stdout == ""


def test_show_gives_the_contract_and_the_limits_as_data() -> None:
    shown = document("tasks", "show", "layernorm", "--direction", "backward", "--gpu", "a100-80gb")
    (entry,) = shown["tasks"]
    assert shown["schema"] == "warpwright.tasks.show/1"
    assert entry["key"] == "paper/layernorm:backward"
    assert entry["entries"]["backward"][0].startswith("grad_")
    assert entry["gpu"] == "a100-80gb"
    assert [limit["case"] for limit in entry["limits"]] == [case["name"] for case in entry["task"]["cases"]]
    for limit in entry["limits"]:
        assert 0 < limit["floor_seconds"] <= limit["seconds"]
    assert 'm.def("backward", &backward);' in entry["skeleton"]


def test_show_reads_well() -> None:
    shown = run("tasks", "show", "layernorm:forward").stdout
    assert "exports forward(x, weight, bias, eps)" in shown
    assert "least time on NVIDIA H200" in shown
    assert "[B, C, H, W]" in shown
    assert "PYBIND11_MODULE" in shown


def test_the_skeleton_alone_can_go_into_a_file() -> None:
    shown = run("tasks", "show", "layernorm:forward", "--skeleton").stdout
    assert shown.startswith("// layernorm, forward")
    assert shown.endswith("}\n")


def test_check_admits(admitting) -> None:
    asked = admitting(GOOD)
    result = run("tasks", "check", "layernorm:forward", "paper/layernorm:forward")
    assert result.exit_code == Exit.HOLDS
    assert asked == ["paper/layernorm:forward"]
    assert "1 refuted, 1 exempt" in result.stdout
    assert "1 of 1 tasks admitted." in result.stdout


def test_check_refuses_and_says_why(admitting) -> None:
    admitting(GOOD, BAD)
    result = run("tasks", "check", "--suite", "paper")
    shown = " ".join(result.stdout.split())
    assert result.exit_code == Exit.REFUTED
    assert "the reference is not deterministic" in shown
    assert "'mean' was not refuted: accepted on all [7] draws" in shown
    assert "honest 'double' was refuted: worst at [0, 1]" in shown
    assert "1 of 2 tasks admitted." in shown


def test_check_for_programs(admitting) -> None:
    admitting(GOOD, BAD)
    result = run("tasks", "check", "--json")
    checked = json.loads(result.stdout)
    assert result.exit_code == Exit.REFUTED
    assert (checked["schema"], checked["admitted"], checked["of"]) == ("warpwright.tasks.check/1", 1, 2)
    assert [item["admitted"] for item in checked["admissions"]] == [True, False]


def test_check_takes_one_direction(admitting) -> None:
    asked = admitting(GOOD)
    run("tasks", "check", "--suite", "paper", "--direction", "backward")
    assert len(asked) >= 11
    assert all(key.endswith(":backward") for key in asked)


@pytest.mark.parametrize(
    ("seconds", "text"),
    [(2.0, "2 s"), (0.0123, "12.3 ms"), (14e-6, "14 µs"), (3e-9, "under 1 µs"), (0.0, "under 1 µs")],
)
def test_durations_have_three_figures(seconds: float, text: str) -> None:
    assert duration(seconds) == text
