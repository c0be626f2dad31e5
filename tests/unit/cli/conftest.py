"""Runs the command in a fresh process, as a user does."""

from __future__ import annotations

import os
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path

import pytest

Command = Callable[..., subprocess.CompletedProcess[str]]


@pytest.fixture
def warpwright(tmp_path: Path) -> Command:
    """`warpwright(*arguments)` in an empty folder, without colours, with only the variables given on top."""

    def run(*arguments: str, **variables: str) -> subprocess.CompletedProcess[str]:
        code = "from warpwright.cli.main import main; main()"
        environment = {**os.environ, "NO_COLOR": "1", "COLUMNS": "160", **variables}
        command = [sys.executable, "-c", code, *arguments]
        return subprocess.run(command, capture_output=True, text=True, cwd=tmp_path, env=environment, timeout=240)

    return run
