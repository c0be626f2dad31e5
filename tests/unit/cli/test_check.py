"""`warpwright check` and `verifiers evaluate`: what they print, write and exit with, for verdicts given here."""

from __future__ import annotations

import json
from pathlib import Path
from xml.etree import ElementTree

import pytest
from typer.testing import CliRunner

from warpwright.app.kernels import check as checking
from warpwright.cli.main import app
from warpwright.core.candidate import Candidate
from warpwright.core.records.evidence import Counterexample, Dossier, Evidence, Fault, Verdict

SOURCE = "#include <a>\nfloat m = s[0];  // <b>\n"
RACE = Counterexample(
    kind="race",
    message="thread 32 of block 0 reads s[0] while thread 0 writes it: barrier missing between lines 1 and 2",
    case="3x7-fp32",
    line=2,
    facts={"distribution": "normal", "block": [0, 0, 0], "thread": [32, 0, 0]},
)


def dossier(verdict: Verdict, *, faults: tuple[Fault, ...] = ()) -> Dossier:
    evidence = Evidence(
        candidate="c",
        rung="emulate",
        verdict=verdict,
        reason="unsupported: ptx wgmma" if verdict is Verdict.UNDECIDED else None,
        counterexample=RACE if verdict is Verdict.REFUTED else None,
        facts={"warnings": ["misaligned only where storage is shifted"]},
        seconds=1.5,
    )
    return Dossier(candidate="c", task="modern/softmax:forward", evidence=(evidence,), faults=faults)


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    for name in ("holds", "refuted", "undecided"):
        (tmp_path / f"{name}.cu").write_text(SOURCE)
    rows = ["holds.cu,softmax,holds,clean", "refuted.cu,softmax,refuted,race", "undecided.cu,softmax,refuted,ptx"]
    (tmp_path / "labels.csv").write_text("\n".join(["file,task,verdict,class", *rows]))
    return tmp_path


@pytest.fixture(autouse=True)
def climbing(monkeypatch: pytest.MonkeyPatch) -> None:
    """Each file gets the verdict it is named for, in this process."""

    def check(piece: checking.Piece, **_: object) -> checking.Checked:
        path = Path(str(piece.kernel))
        found = dossier(Verdict(path.stem))
        return checking.Checked(candidate=Candidate(source=SOURCE), subject=piece.subject, dossier=found, path=path)

    monkeypatch.setattr(checking, "_check", check)
    monkeypatch.setattr(
        "warpwright.dispatch.pool.parallel", lambda function, items, **_: [function(item) for item in items]
    )


def run(*arguments: object):
    return CliRunner().invoke(app, [str(argument) for argument in arguments])


@pytest.mark.parametrize(("name", "code"), [("holds", 0), ("refuted", 1), ("undecided", 3)])
def test_the_verdict_is_the_exit_code(folder: Path, name: str, code: int) -> None:
    assert run("check", folder / f"{name}.cu", "--task", "softmax").exit_code == code


def test_a_refutation_shows_its_line(folder: Path) -> None:
    lines = run("check", folder / "refuted.cu", "--task", "softmax").stdout.splitlines()
    assert lines[0] == f"Refuted: {RACE.message}"
    assert "  line 2: float m = s[0];  // <b>" in lines
    assert any("thread [32, 0, 0]" in line for line in lines)
    assert "  warning: misaligned only where storage is shifted" in lines


def test_programs_get_the_same(folder: Path) -> None:
    found = json.loads(run("check", folder / "refuted.cu", "--task", "softmax", "--json").stdout)
    assert (found["schema"], found["verdict"]) == ("warpwright.check/1", "refuted")
    assert found["dossier"]["evidence"][0]["counterexample"]["line"] == 2


def test_a_folder_is_checked_by_its_labels(folder: Path) -> None:
    result = run("check", folder, "--labels", folder / "labels.csv")
    assert result.exit_code == 1
    assert result.stdout.splitlines()[-1] == "3 kernels: 1 holds, 1 refuted, 1 undecided."


def test_documents_are_written(folder: Path) -> None:
    page, junit = folder / "page.html", folder / "junit.xml"
    run("check", folder, "--labels", folder / "labels.csv", "--html", page, "--junit", junit)
    text = page.read_text()
    assert "<mark>    2 float m = s[0];  // &lt;b&gt;</mark>" in text
    assert "<b>" not in text
    suite = ElementTree.fromstring(junit.read_text())
    assert {key: suite.get(key) for key in ("tests", "failures", "skipped", "errors")} == {
        "tests": "3", "failures": "1", "skipped": "1", "errors": "0",
    }  # fmt: skip


@pytest.mark.parametrize(
    "arguments",
    [(), ("--task", "softmax", "--ref", "a.py:f"), ("--task", "softmax", "--labels", "labels.csv")],
)
def test_what_it_should_do_is_said_once(folder: Path, arguments: tuple[str, ...]) -> None:
    result = run("check", folder / "holds.cu", *arguments)
    assert result.exit_code == 2
    assert "say what the kernel should do" in result.stderr


def test_a_file_that_cannot_be_written_is_wrong_use(folder: Path) -> None:
    result = run("check", folder / "holds.cu", "--task", "softmax", "--html", folder / "none" / "page.html")
    assert result.exit_code == 2


def test_verifiers_are_scored_per_class(folder: Path) -> None:
    found = json.loads(run("verifiers", "evaluate", "--labels", folder / "labels.csv", "--json").stdout)
    scores = {score["kind"]: score for score in found["scores"]}
    assert scores["race"]["accuracy"] == 1.0
    assert scores["ptx"]["accuracy"] is None
    assert scores["all"]["undecided"] == 1
    table = run("verifiers", "evaluate", "--labels", folder / "labels.csv").stdout
    assert "false accepts" in table
    assert "100.0%" in table
