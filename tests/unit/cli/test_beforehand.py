"""What a user gets wrong is said at once, in one sentence, before torch is imported or anything is written."""

from __future__ import annotations

from pathlib import Path

import pytest
from typer.testing import CliRunner, Result

from warpwright.cli.main import app

KERNEL = "#include <torch/extension.h>\n"


@pytest.fixture(autouse=True)
def at_home(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("WARPWRIGHT_ARCHIVE", str(tmp_path / "a.db"))
    (tmp_path / "kernel.cu").write_text(KERNEL)
    (tmp_path / "latin.cu").write_bytes(b"// caf\xe9\n")
    (tmp_path / "labels.csv").write_text("file,task,verdict,class\nkernel.cu,softmax,refuted,x\n")


def ran(*words: str) -> Result:
    return CliRunner().invoke(app, list(words))


@pytest.mark.parametrize(
    ("words", "said"),
    [
        (("optimize", "softmax", "--start", "latin.cu"), "latin.cu cannot be read: it is not UTF-8 text"),
        (("optimize", "softmax", "--forward", "latin.cu"), "latin.cu cannot be read: it is not UTF-8 text"),
        (("repair", "latin.cu", "--task", "softmax", "--model", "mailbox:m"), "it is not UTF-8 text"),
        (("tune", "latin.cu", "--task", "softmax"), "it is not UTF-8 text"),
        (("optimize", "softmax", "--record", "no/such/r.jsonl"), "no/such/r.jsonl cannot be written"),
        (("tune", "kernel.cu", "--task", "softmax", "-o", "no/such/k.cu"), "no/such/k.cu cannot be written"),
        (("check", "kernel.cu", "--task", "softmax", "--html", "no/such/p.html"), "no/such/p.html cannot be written"),
        (("check", "kernel.cu", "--task", "softmax", "--junit", "."), ". cannot be written"),
        (("report", "abc", "--html", "no/such/p.html"), "no/such/p.html cannot be written"),
        (("compose", "softmax", "--out", "kernel.cu"), "kernel.cu cannot be made"),
        (("compose", "sotfmax"), "did you mean softmax"),
        (("compose", "softmax", "sotfmax", "--no-check"), "did you mean softmax"),
        (("bundle", "make", "kernel.cu", "kernel.cu", "--task", "softmax"), "kernel.cu cannot be made"),
        (("demo", "--folder", "kernel.cu"), "kernel.cu cannot be made"),
        (("bench", "--suite", "paper", "--kernels", "nowhere"), "nowhere is no folder"),
        (("bench", "kernel.cu", "--task", "softmax", "--min-speedup", "nan"), "--min-speedup"),
        (("compare", "kernel.cu", "--task", "softmax"), "two candidates"),
        (("verifiers", "evaluate", "--labels", "labels.csv", "--rung", "emulat"), "source, seal, emulate"),
        (("verifiers", "evaluate", "--labels", "labels.csv", "--panel", "p"), "--rung opinion"),
        (("tasks", "show", "a" * 5000), "too long"),
        (("tasks", "show", ""), "no task"),
    ],
)
def test_wrong_use_is_named(words: tuple[str, ...], said: str) -> None:
    done = ran(*words)
    assert (done.exit_code, said in done.stderr) == (2, True), done.output
    assert done.stderr.count("\n") == 1 or "Usage:" in done.stderr


@pytest.mark.parametrize(
    "words",
    [
        ("optimize",),
        ("optimize", "sotfmax"),
        ("optimize", "softmax", "--resume", "x"),
        ("optimize", "softmax", "--gpu", "h900"),
        ("translate", "sotfmax"),
        ("repair", "kernel.cu", "--task", "softmax"),
        ("tune", "kernel.cu", "--task", "sotfmax"),
        ("tune", "nothing.cu", "--task", "softmax"),
        ("demo", "--gpu", "h900"),
        ("report", "abc"),
    ],
    ids=" ".join,
)
def test_a_mistake_costs_no_import_of_torch(warpwright, words: tuple[str, ...], tmp_path: Path) -> None:
    (tmp_path / "torch.py").write_text("raise RuntimeError('torch was imported')\n")
    done = warpwright(*words, PYTHONPATH=str(tmp_path), WARPWRIGHT_ARCHIVE=str(tmp_path / "a.db"))
    assert done.returncode == 2, done.stderr
    assert "torch was imported" not in done.stderr


def test_a_mistake_leaves_nothing_behind(tmp_path: Path) -> None:
    before = sorted(tmp_path.iterdir())
    ran("check", "kernel.cu", "--task", "sotfmax", "--html", "p.html")
    ran("compose", "sotfmax")
    assert sorted(tmp_path.iterdir()) == before
