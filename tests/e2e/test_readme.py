"""The README is correct: every command of its console blocks runs and prints the lines shown after it."""

from __future__ import annotations

import os
import re
import subprocess
import sys
from dataclasses import dataclass
from pathlib import Path

import pytest

from warpwright.core.candidate import Candidate
from warpwright.core.records.evidence import Verdict
from warpwright.core.records.judged import Judged
from warpwright.dispatch.bundle import read_results
from warpwright.report.comparison import picture, table
from warpwright.report.standings import Standing, standings
from warpwright.tasks import load

ROOT = Path(__file__).resolve().parents[2]
EXAMPLE = ROOT / "docs" / "examples" / "topk_gating"
README = (ROOT / "README.md").read_text(encoding="utf-8")
FENCE = re.compile(r"^```console\n(.*?)^```", re.MULTILINE | re.DOTALL)
EXITS = re.compile(r"  # exits with (\d)$")


@dataclass(frozen=True, kw_only=True)
class Step:
    command: str
    shown: tuple[str, ...]
    code: int


def steps_of(text: str) -> list[Step]:
    """Parses a console block: `$ ` starts a command, `> ` continues it, all other lines are its output."""
    steps: list[Step] = []
    for block in FENCE.findall(text):
        for start in re.split(r"^\$ ", block, flags=re.MULTILINE)[1:]:
            first, *rest = start.splitlines()
            more = [line[2:] for line in rest if line.startswith(">")]
            exits = EXITS.search(first)
            steps.append(
                Step(
                    command="\n".join([EXITS.sub("", first), *more]),
                    shown=tuple(line for line in rest if not line.startswith(">")),
                    code=int(exits[1]) if exits else 0,
                )
            )
    return steps


def test_the_two_commands_come_before_the_tour() -> None:
    assert README.index("make demo") < README.index("make test") < README.index("```console")


def recorded() -> tuple[Judged, tuple[Standing, ...]]:
    kernel = Candidate(source=(EXAMPLE / "kernel.cu").read_text(encoding="utf-8"))
    (judged,) = [item for item in read_results(EXAMPLE / "results") if item.candidate == kernel.id]
    (task,) = load(judged.task)
    return judged, standings(task, judged)


def test_the_first_screen_is_drawn_from_the_records_of_a_search() -> None:
    judged, found = recorded()
    assert picture(found) + "\n" == (EXAMPLE / "kernel.svg").read_text(encoding="utf-8"), "run bench/picture.py"
    assert table(found) in README
    (evidence,) = judged.evidence
    assert evidence.verdict is Verdict.HOLDS
    assert f"**holds**, on {evidence.facts['draws']} draws of inputs, twice each" in README
    assert {item.scene.gpu for item in judged.measurements} == {"NVIDIA H200"}


def test_the_function_and_the_kernel_of_the_first_screen_are_those_of_the_search() -> None:
    (function,) = re.findall(r"^```python\n(.*?)^```", README, re.MULTILINE | re.DOTALL)
    (kernel,) = re.findall(r"^```cuda\n(.*?)^```", README, re.MULTILINE | re.DOTALL)
    assert len(function.splitlines()) <= 12
    assert function in (ROOT / "suites" / "modern" / EXAMPLE.name / "reference.py").read_text(encoding="utf-8")
    source = (EXAMPLE / "kernel.cu").read_text(encoding="utf-8")
    assert all(part.strip("\n") in source for part in kernel.split("\n\n"))


@pytest.mark.timeout(300)
def test_the_tour_works_as_written(tmp_path: Path) -> None:
    steps = steps_of(README)
    assert len(steps) >= 8
    environment = {**os.environ, "PATH": f"{Path(sys.executable).parent}:{os.environ['PATH']}", "COLUMNS": "200"}
    for step in steps:
        ran = subprocess.run(
            ["bash", "-c", step.command], cwd=tmp_path, env=environment, capture_output=True, text=True, timeout=200
        )
        assert ran.returncode == step.code, f"{step.command}\n{ran.stdout}{ran.stderr}"
        for line in step.shown:
            assert line in ran.stdout + ran.stderr, step.command


def test_links_have_a_target() -> None:
    for page in (ROOT / "README.md", *(ROOT / "docs").glob("*.md")):
        for target in re.findall(r"\]\(([^)#:]+)\)", page.read_text(encoding="utf-8")):
            assert (page.parent / target).exists(), f"{page.name}: {target}"
