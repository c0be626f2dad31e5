"""Mistakes of new users: each ends in one clear sentence and the right exit code."""

from __future__ import annotations

import shutil
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path

import pytest

from warpwright.core.errors import Exit

ROOT = Path(__file__).resolve().parents[2]
FOLDER = ROOT / "suites" / "paper" / "llama_rmsnorm"


def warpwright(*arguments: object) -> subprocess.CompletedProcess[str]:
    code = "from warpwright.cli.main import main; main()"
    command = [sys.executable, "-c", code, *map(str, arguments)]
    return subprocess.run(command, capture_output=True, text=True, timeout=280)


def refused(ran: subprocess.CompletedProcess[str], *words: str) -> None:
    assert ran.returncode == Exit.WRONG_USE, ran.stderr
    assert ran.stdout == ""
    assert ran.stderr.startswith("warpwright: ")
    assert ran.stderr.count("\n") == 1
    assert all(word in ran.stderr for word in words), ran.stderr


@pytest.fixture
def broken(tmp_path: Path) -> Callable[[str, str, str], Path]:
    """Builds a task folder in which one piece of text of one file is replaced."""

    def spoil(file: str, old: str, new: str) -> Path:
        folder = tmp_path / "rmsnorm"
        shutil.copytree(FOLDER, folder)
        text = (folder / file).read_text(encoding="utf-8")
        assert old in text
        (folder / file).write_text(text.replace(old, new, 1), encoding="utf-8")
        return folder

    return spoil


@pytest.mark.parametrize(
    ("file", "old", "new", "words"),
    [
        ("reference.py", "def forward(", "def forward((", ["reference.py", "syntax error"]),
        ("reference.py", "def forward(", "def forwards(", ["reference.py", "forward"]),
        ("task.toml", 'dtypes = ["fp32"', 'dtypes = ["fp31"', ["task.toml", "fp31", "one of fp64"]),
        ("task.toml", 'name = "', 'nmae = "', ["task.toml", "nmae"]),
        ("task.toml", "[cases]", "[cases", ["task.toml", "not TOML"]),
        ("task.toml", "[cases]", "[tolerance]\nslack = nan\n[cases]", ["task.toml", "tolerance.slack", "nan"]),
        ("task.toml", "[cases]", "[tolerance]\nslack = 0.0\n[cases]", ["task.toml", "tolerance.slack"]),
        ("task.toml", "B = ", "Q = ", ["task.toml", "'B'"]),
    ],
)
def test_a_mistake_in_a_task_folder_is_named(broken, file: str, old: str, new: str, words: list[str]) -> None:
    refused(warpwright("tasks", "show", broken(file, old, new)), *words)


@pytest.mark.parametrize("file", ["task.toml", "reference.py"])
def test_a_missing_file_is_named(broken, file: str) -> None:
    folder = broken("reference.py", "", "")
    (folder / file).unlink()
    refused(warpwright("tasks", "show", folder), file)


@pytest.mark.parametrize("direction", ["forward", "backward", "training"])
def test_a_shape_that_does_not_fit_is_named(broken, direction: str) -> None:
    folder = broken(
        "task.toml",
        'outputs = [{ name = "y", shape = ["B", "S", "D"]',
        'outputs = [{ name = "y", shape = ["B", "S", 2]',
    )
    ran = warpwright("tasks", "check", f"{folder}:{direction}")
    assert ran.returncode == Exit.REFUTED, ran.stderr
    assert "y has shape" in ran.stdout


def test_a_reference_that_is_not_deterministic_is_not_admitted(broken) -> None:
    folder = broken("reference.py", "    return ", "    return torch.rand(()) + ")
    ran = warpwright("tasks", "check", f"{folder}:forward")
    assert ran.returncode == Exit.REFUTED, ran.stderr
    assert "not deterministic" in ran.stdout


@pytest.mark.parametrize(
    ("arguments", "words"),
    [
        (["nowhere.py:fn", "--input", "8,8:fp32"], ["nowhere.py"]),
        (["ref.py:fn", "--input", "8,8:fp31"], ["fp31"]),
        (["ref.py:fn", "--input", "8,x:fp32"], ["8,x"]),
        (["ref.py:nothing", "--input", "8,8:fp32"], ["nothing"]),
        (["ref.py:fn", "--input", "8,8:fp32"], ["fn"]),
        (["ref.py:fn", "--input", "8,8:fp32", "--input", "9:fp32"], ["fn"]),
        (["ref.py:crash", "--input", "8:fp32"], ["crash", "no luck"]),
        (["ref.py"], ["ref.py"]),
        (["empty"], ["empty"]),
        (["."], ["task.toml"]),
    ],
    ids=lambda value: " ".join(value),
)
def test_a_mistake_about_a_function_is_named(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, arguments: list[str], words: list[str]
) -> None:
    (tmp_path / "ref.py").write_text(
        "import torch\n\ndef fn(x, y):\n    return x + y\n\ndef crash(x):\n    raise RuntimeError('no luck')\n"
    )
    monkeypatch.chdir(tmp_path)
    refused(warpwright("tasks", "show", *arguments), *words)
