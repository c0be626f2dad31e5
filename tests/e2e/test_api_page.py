"""docs/api.md is correct: its code runs from top to bottom, with the output shown after each block."""

from __future__ import annotations

import ast
import doctest
import os
import re
import subprocess
import sys
from pathlib import Path

import pytest

PAGE = (Path(__file__).resolve().parents[2] / "docs" / "api.md").read_text(encoding="utf-8")
BLOCK = re.compile(r"^```python\n(.*?)^```\n(?:\n```text\n(.*?)^```)?", re.MULTILINE | re.DOTALL)
MARK = "=== block ==="


def script_of(blocks: list[str]) -> str:
    """Joins all blocks; the value of a block's last expression is printed."""
    parts = []
    for block in blocks:
        *before, last = ast.parse(block).body
        if isinstance(last, ast.Expr):
            printed = ast.parse("print(repr(value))").body[0]
            printed.value.args[0].args[0] = last.value
            last = printed
        module = ast.fix_missing_locations(ast.Module(body=[*before, last], type_ignores=[]))
        parts.append(f"{ast.unparse(module)}\nprint({MARK!r})")
    return "\n".join(parts)


@pytest.mark.timeout(300)
def test_the_page_runs_from_top_to_bottom(tmp_path: Path) -> None:
    found = BLOCK.findall(PAGE)
    assert len(found) >= 10
    (tmp_path / "page.py").write_text(script_of([code for code, _ in found]))
    environment = {**os.environ, "PYTHONPATH": str(tmp_path)}
    ran = subprocess.run(
        [sys.executable, "page.py"], cwd=tmp_path, env=environment, capture_output=True, text=True, timeout=280
    )
    assert ran.returncode == 0, ran.stderr
    given = ran.stdout.split(f"{MARK}\n")
    checker = doctest.OutputChecker()
    for (code, shown), printed in zip(found, given, strict=False):
        assert not shown or checker.check_output(shown, printed, doctest.ELLIPSIS), f"{code}\n{printed}"
    assert (tmp_path / "report.html").exists()
    assert (tmp_path / "row-17" / "gated.py").exists()


def test_every_public_function_is_described() -> None:
    import warpwright as ww

    functions = {name for name in ww._HOMES if name.islower()}
    assert {name for name in functions if f"ww.{name}(" not in PAGE} == set()
