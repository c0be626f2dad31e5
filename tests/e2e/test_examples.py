"""Recorded searches: their documentation is correct, and they can be repeated exactly."""

from __future__ import annotations

import re
import shutil
from pathlib import Path

import pytest
from typer.testing import CliRunner

from warpwright.cli.main import app
from warpwright.core.candidate import Candidate
from warpwright.core.records.evidence import Verdict
from warpwright.dispatch.bundle import read_results
from warpwright.models.lines import read_lines
from warpwright.models.recordings.recording import Exchange

EXAMPLES = Path(__file__).parents[2] / "docs" / "examples"
TASKS = {
    "argmax": "modern/argmax:forward",
    "llama_rmsnorm": "paper/llama_rmsnorm:backward",
    "topk_gating": "modern/topk_gating:forward",
}
TOLD = re.compile(r"\| \[(\w+)\]\(\w+\) \| `(\S+)`.*\| ([\d.]+) times \| (\d+) % \| (\d+) \| (\d+): (.+) \|")


def told() -> dict[str, tuple[str, ...]]:
    rows = (TOLD.match(line) for line in (EXAMPLES / "README.md").read_text(encoding="utf-8").splitlines())
    return {row[1]: row.groups()[1:] for row in rows if row}


def test_every_example_is_documented() -> None:
    folders = {path.name for path in EXAMPLES.iterdir() if path.is_dir()}
    assert folders == set(TASKS) == set(told())
    assert {name: row[0] for name, row in told().items()} == TASKS


@pytest.mark.parametrize("name", TASKS)
def test_the_documentation_of_an_example_is_correct(name: str) -> None:
    letters = list(read_lines(EXAMPLES / name / "run.jsonl", Exchange, torn_end=False))
    results = read_results(EXAMPLES / name / "results")
    *_, asked, candidates, fates = told()[name]
    refuted = int(found[1]) if (found := re.search(r"(\d+) refuted", fates)) else 0
    assert (len(letters), len(results)) == (int(asked), int(candidates) - refuted)
    assert {judged.task for judged in results} == {TASKS[name]}
    assert all(item.verdict is Verdict.HOLDS for judged in results for item in judged.evidence)
    scenes = {measured.scene.gpu for judged in results for measured in judged.measurements}
    assert scenes == {"NVIDIA H200"}


@pytest.mark.parametrize("name", TASKS)
def test_the_best_kernel_of_an_example_still_has_its_recorded_id(name: str) -> None:
    kernel = Candidate(source=(EXAMPLES / name / "kernel.cu").read_text(encoding="utf-8"))
    assert kernel.id in {judged.candidate for judged in read_results(EXAMPLES / name / "results")}


@pytest.mark.corpus
@pytest.mark.timeout(900)
@pytest.mark.parametrize("name", TASKS)
def test_repeating_an_example_gives_the_same_kernel(name: str, tmp_path: Path) -> None:
    shutil.copytree(EXAMPLES / name / "results", tmp_path / "trip" / "results")
    again = tmp_path / "again.cu"
    done = CliRunner().invoke(app, [
        "optimize", TASKS[name], "--model", f"reworded:{EXAMPLES / name / 'run.jsonl'}", "--dispatch",
        f"bundle:{tmp_path / 'trip'}", "--no-composer", "--generations", "1", "--proposals", "2", "--evaluate", "2",
        "--seed", "7", "--archive", str(tmp_path / "a.db"), "-o", str(again),
    ])  # fmt: skip
    assert done.exit_code == 0, done.output
    assert again.read_text(encoding="utf-8") == (EXAMPLES / name / "kernel.cu").read_text(encoding="utf-8")
    _, _, speed_up, of_limit, _, count, fates = (name, *told()[name])
    assert f"Best: {float(speed_up):.2f} times the best torch baseline, measured, {of_limit}%" in done.output
    assert f"{count} proposals: " in done.output
    assert sorted(fates.split(", ")) == sorted(
        re.search(rf"{count} proposals: (.+)\.", done.output)[1].split(", ")  # type: ignore[index]
    )
