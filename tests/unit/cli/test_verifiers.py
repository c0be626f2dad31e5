"""Opinions measured and tuned from the command line, by a judge who is a small program."""

from __future__ import annotations

import json
import sys
from pathlib import Path

import pytest
from typer.testing import CliRunner, Result

from warpwright.cli.main import app

SOURCE = "#include <torch/extension.h>\nPYBIND11_MODULE(TORCH_EXTENSION_NAME, m) {}\n"
JUDGE = """
import json, re, sys
asked = sys.stdin.read()
if "A better instruction" in asked:
    print("Look for the word wrong.")
else:
    code = re.search(r"BEGIN ([0-9a-f]+)", asked)[1]
    bad = "wrong" in asked.split("BEGIN " + code)[1].split("END " + code)[0]
    reasons = [{"line": 1, "why": "it says so"}] if bad else []
    print(json.dumps({"about": code, "verdict": "fail" if bad else "pass", "confidence": 0.9, "reasons": reasons}))
"""


@pytest.fixture
def labels(tmp_path: Path) -> Path:
    rows = ["file,task,verdict,class"]
    for number in range(6):
        kind = "refuted,memory" if number % 2 else "holds,"
        word = "wrong" if number % 2 else "right"
        (tmp_path / f"k{number}.cu").write_text(f"// {word} {number}\n{SOURCE}")
        rows.append(f"k{number}.cu,softmax,{kind}")
    (tmp_path / "labels.csv").write_text("\n".join(rows) + "\n")
    (tmp_path / "judge.py").write_text(JUDGE)
    return tmp_path / "labels.csv"


def verifiers(*words: object) -> Result:
    return CliRunner().invoke(app, ["verifiers", *map(str, words)])


def test_opinions_are_measured_like_any_rung(labels: Path) -> None:
    judge = f"command:{sys.executable} {labels.parent / 'judge.py'}"
    done = verifiers("evaluate", "--labels", labels, "--rung", "opinion", "--model", judge, "--json")
    assert done.exit_code == 0, done.output
    (total,) = [score for score in json.loads(done.stdout)["scores"] if score["kind"] == "all"]
    assert (total["total"], total["right"], total["accuracy"]) == (6, 6, 1.0)


def test_tuning_reports_the_part_that_was_held_out(labels: Path) -> None:
    judge = f"command:{sys.executable} {labels.parent / 'judge.py'}"
    panel = labels.parent / "panel"
    done = verifiers("tune", "--labels", labels, "--model", judge, "--out", panel, "--rounds", 1, "--json")
    assert done.exit_code == 0, done.output
    told = json.loads(done.stdout)
    assert told["training"] + told["held_out"] == 6
    assert all(item["held_out_after"] in (None, 1.0) for item in told["outcomes"])
    again = verifiers("evaluate", "--labels", labels, "--rung", "opinion", "--model", judge, "--panel", panel, "--json")
    assert again.exit_code == 0, again.output


def test_opinions_need_somebody_to_ask(labels: Path) -> None:
    assert verifiers("evaluate", "--labels", labels, "--rung", "opinion").exit_code == 2
    assert verifiers("evaluate", "--labels", labels, "--model", "mailbox:box").exit_code == 2
