"""The demo: both planted kernels are caught, every search finds a correct kernel, and the report shows it."""

from __future__ import annotations

from pathlib import Path

import pytest
from typer.testing import CliRunner

from warpwright.cli.demo.demonstration import SEARCHES
from warpwright.cli.main import app


@pytest.mark.timeout(900)
def test_the_demo_catches_planted_kernels_and_finds_correct_ones(tmp_path: Path) -> None:
    done = CliRunner().invoke(app, ["demo", "--folder", str(tmp_path / "demo")])
    assert done.exit_code == 0, done.output
    assert done.stdout.count("caught") == 2
    assert "missed" not in done.stdout
    report = (tmp_path / "demo" / "report.html").read_text(encoding="utf-8")
    for name in SEARCHES:
        assert name in report
        assert name.split(":")[0] in done.stdout
        assert (tmp_path / "demo" / f"{name.replace(':', '-')}.cu").is_file()
    assert "barrier missing" in report
