"""`warpwright compose`: what can be written is written and checked, the rest is named, and nothing crashes."""

import json
from collections.abc import Callable
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest
from typer.testing import CliRunner, Result

from warpwright.cli.main import app
from warpwright.core.climb import Climb
from warpwright.core.errors import OurFault
from warpwright.core.records.evidence import Counterexample, Evidence, Fault, Verdict

SQUARE = """
import torch
class Model(torch.nn.Module):
    def forward(self, x):
        return x * x + 1.0
def get_inputs():
    return [torch.rand(16, 33)]
def get_init_inputs():
    return []
"""
INVERSE = SQUARE.replace("x * x + 1.0", "torch.linalg.inv(x)").replace("16, 33", "8, 8")


def compose(*words: object) -> Result:
    return CliRunner().invoke(app, ["compose", *map(str, words)])


def test_a_folder_of_problems_is_gone_through(tmp_path: Path) -> None:
    problems = tmp_path / "problems"
    problems.mkdir()
    (problems / "1_square.py").write_text(SQUARE)
    (problems / "2_inverse.py").write_text(INVERSE)
    (problems / "3_broken.py").write_text(SQUARE.replace("return x * x", "return missing(x) * x"))
    found = compose(problems, "--out", tmp_path / "kernels", "--no-check", "--json")
    assert found.exit_code == 3, found.output
    told = {Path(item["task"]).name.partition(":")[0]: item for item in json.loads(found.output)["composed"]}
    assert len(told) >= 2
    kept = [item["file"] for item in told.values() if item["file"]]
    assert len(kept) == 1
    assert "__global__" in Path(kept[0]).read_text()
    assert any("cannot compose" in item["words"] for item in told.values())


def test_a_file_that_cannot_be_loaded_is_named_once(tmp_path: Path) -> None:
    problems = tmp_path / "problems"
    problems.mkdir()
    (problems / "1_import.py").write_text("import nothing_like_this\n" + SQUARE)
    found = compose(problems, "--out", tmp_path / "kernels")
    assert found.exit_code == 3, found.output
    assert "1_import.py:1: needs the package" in found.output
    assert found.output.count("1_import.py") == 1


def test_a_file_that_prints_leaves_json_alone(tmp_path: Path) -> None:
    problem = tmp_path / "square.py"
    problem.write_text("print('{')\n" + SQUARE.replace("return x * x", "print('hello'); return x * x"))
    found = compose(problem, "--out", tmp_path / "kernels", "--json")
    assert found.exit_code == 0, found.output
    assert [item["verdict"] for item in json.loads(found.stdout)["composed"]] == ["holds"]


def test_what_is_kept_was_checked(tmp_path: Path) -> None:
    problem = tmp_path / "square.py"
    problem.write_text(SQUARE)
    found = compose(problem, "--out", tmp_path / "kernels")
    assert found.exit_code == 0, found.output
    assert "1 of 1 tasks have a kernel" in found.output
    assert "holds" in found.output.lower()


def said(climbed: Climb, **fields: Any) -> Climb:
    return climbed.with_evidence(Evidence(candidate=climbed.candidate.id, **fields))


def holds(climbed: Climb) -> Climb:
    return said(climbed, rung="source", verdict=Verdict.HOLDS)


def undecided(climbed: Climb) -> Climb:
    return said(climbed, rung="emulate", verdict=Verdict.UNDECIDED, reason="still running")


def absent(climbed: Climb) -> Climb:
    return said(climbed, rung="gpu", verdict=Verdict.UNDECIDED, reason="no GPU here", skipped=True)


def refuted(climbed: Climb) -> Climb:
    shown = Counterexample(kind="race", message="two threads write y[0]")
    return said(climbed, rung="emulate", verdict=Verdict.REFUTED, counterexample=shown)


def failed(climbed: Climb) -> Climb:
    raise OurFault(Fault(where="sandbox", message="the launcher does not answer"))


@pytest.mark.parametrize(
    ("last", "code", "verdict", "kept"),
    [
        (absent, 0, "holds", True),
        (undecided, 3, "undecided", True),
        (failed, 4, "undecided", True),
        (refuted, 1, "refuted", False),
    ],
)
def test_it_ends_as_check_does_on_what_it_wrote(
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    last: Callable[[Climb], Climb],
    code: int,
    verdict: str,
    kept: bool,
) -> None:
    ladder = [SimpleNamespace(climb=holds), SimpleNamespace(climb=last)]
    monkeypatch.setattr("warpwright.verify.ladder.rungs", lambda **_: ladder)
    problem = tmp_path / "square.py"
    problem.write_text(SQUARE)
    found = compose(problem, "--out", tmp_path / "kernels", "--json")
    assert found.exit_code == code, found.output
    [told] = json.loads(found.output)["composed"]
    assert (told["verdict"], told["file"] is not None) == (verdict, kept)
    assert (tmp_path / "kernels" / "square.cu").exists() == kept
    kernel = tmp_path / "any.cu"
    kernel.write_text("// the rungs of this test look at nothing\n")
    checked = CliRunner().invoke(app, ["check", str(kernel), "--task", str(problem)])
    assert checked.exit_code == code, checked.output


def test_a_function_of_your_own_needs_its_inputs(tmp_path: Path) -> None:
    function = tmp_path / "ref.py"
    function.write_text("def twice(x):\n    return x + x\n")
    without = compose(f"{function}:twice", "--out", tmp_path / "kernels", "--no-check")
    assert (without.exit_code, "--input" in without.stderr) == (2, True), without.output
    found = compose(f"{function}:twice", "--input", "8,33:fp32", "--out", tmp_path / "kernels", "--no-check")
    assert found.exit_code == 0, found.output
    assert "__global__" in (tmp_path / "kernels" / "twice.cu").read_text()


def test_a_file_that_is_no_task_is_a_mistake(tmp_path: Path) -> None:
    (tmp_path / "empty.py").write_text("")
    found = compose(tmp_path / "empty.py", "--out", tmp_path / "kernels")
    assert found.exit_code == 2, found.output
