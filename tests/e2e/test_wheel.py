"""`pip install .` gives a complete product: the wheel contains the suites and finds them."""

from __future__ import annotations

import json
import os
import subprocess
import sys
import zipfile
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[2]
HOUSE = ROOT / "src" / "warpwright"


@pytest.fixture(scope="module")
def installed(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Builds the wheel as pip does and unpacks it into a folder."""
    folder = tmp_path_factory.mktemp("wheel")
    options = ["--quiet", "--disable-pip-version-check", "--no-build-isolation", "--no-deps", "--no-index"]
    command = [sys.executable, "-m", "pip", "wheel", *options, "-w", str(folder), str(ROOT)]
    subprocess.run(command, check=True, timeout=240, capture_output=True)
    (wheel,) = folder.glob("warpwright-*.whl")
    with zipfile.ZipFile(wheel) as archive:
        archive.extractall(folder / "site")
    return folder / "site"


def test_the_wheel_carries_every_suite(installed: Path) -> None:
    for definition in (ROOT / "suites").glob("*/*/task.toml"):
        packed = installed / "warpwright" / "suites" / definition.relative_to(ROOT / "suites")
        assert packed.read_bytes() == definition.read_bytes()
        assert (packed.parent / "reference.py").is_file()


def test_the_wheel_carries_every_source_and_nothing_else(installed: Path) -> None:
    tracked = {path.relative_to(ROOT / "src") for path in (ROOT / "src" / "warpwright").rglob("*") if path.is_file()}
    packed = {path.relative_to(installed) for path in (installed / "warpwright").rglob("*") if path.is_file()}
    ours = {path for path in packed if path.parts[1] != "suites"}
    assert ours == {path for path in tracked if path.suffix != ".pyc"}


@pytest.mark.parametrize(
    "folder",
    ["seal/include", "seal/include-host", "seal/hostlink/include-hostlink", "seal/recorder", "emulate/runtime"],
)
def test_the_wheel_carries_our_headers_and_runtimes(installed: Path, folder: str) -> None:
    texts = [path for path in (HOUSE / folder).rglob("*") if path.is_file()]
    assert texts
    for text in texts:
        assert (installed / "warpwright" / text.relative_to(HOUSE)).read_bytes() == text.read_bytes()


def test_the_wheel_gives_the_command(installed: Path) -> None:
    (entry,) = installed.glob("*.dist-info/entry_points.txt")
    assert "warpwright = warpwright.cli.main:main" in entry.read_text()


def test_the_installed_command_finds_its_own_suites(installed: Path, tmp_path: Path) -> None:
    code = "import warpwright, sys; sys.stderr.write(warpwright.__file__); from warpwright.cli.main import main; main()"
    ran = subprocess.run(
        [sys.executable, "-c", code, "tasks", "list", "--json"],
        env={**os.environ, "PYTHONPATH": str(installed)},
        cwd=tmp_path,
        capture_output=True,
        text=True,
        check=True,
        timeout=240,
    )
    assert ran.stderr.startswith(str(installed))
    assert len(json.loads(ran.stdout)["tasks"]) >= 45
