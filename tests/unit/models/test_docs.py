"""docs/models.md is correct: its commands and options exist, its specs and its price file can be parsed."""

from __future__ import annotations

import re
import shlex
import subprocess
import sys
from functools import cache
from itertools import pairwise
from pathlib import Path

import pytest

from warpwright.models.spec import OTHERS, PROVIDERS, parse
from warpwright.models.spending.prices import load_prices

PAGE = (Path(__file__).resolve().parents[3] / "docs" / "models.md").read_text(encoding="utf-8")
COMMANDS = [
    shlex.split(line, comments=True)[1:]
    for block in re.findall(r"```sh\n(.*?)```", PAGE, re.DOTALL)
    for line in block.splitlines()
    if line.startswith("warpwright ")
]


@cache
def shown(verb):
    code = "import sys; from warpwright.cli.main import main; sys.argv[0] = 'warpwright'; main()"
    ran = subprocess.run(
        [sys.executable, "-c", code, verb, "--help"], capture_output=True, text=True, check=True, timeout=120
    )
    return ran.stdout


@pytest.mark.parametrize("words", COMMANDS, ids=" ".join)
def test_every_command_and_option_exists(words):
    for option in (word for word in words if word.startswith("--")):
        assert re.search(rf"{option}\b", shown(words[0])), option


def test_every_spec_can_be_parsed_and_every_kind_is_documented():
    specs = [after for words in COMMANDS for word, after in pairwise(words) if word == "--model"]
    assert len(specs) >= 8
    assert all(str(parse(spec)) == spec for spec in specs)
    assert all(f"`{kind}:" in PAGE for kind in PROVIDERS + OTHERS)


def test_the_price_file_can_be_used(tmp_path):
    file = tmp_path / "prices.toml"
    file.write_text(re.search(r"```toml\n(.*?)```", PAGE, re.DOTALL)[1])
    prices = load_prices({"WARPWRIGHT_PRICES": str(file)})
    spec = "openai:qwen3-coder@http://127.0.0.1:8000/v1"
    assert prices.cost(spec, {"input": 1_000_000, "output": 1_000_000}) == pytest.approx(1.0)
    assert prices.source(spec) == "our own machine, as of 2026-11-01"


def test_the_python_example_builds_its_model(monkeypatch):
    monkeypatch.setenv("ANTHROPIC_API_KEY", "not-a-real-one")
    monkeypatch.setenv("XDG_CONFIG_HOME", "/nonexistent")
    code = re.search(r"```python\n(.*?)```", PAGE, re.DOTALL)[1]
    names = {}
    exec(code[: code.index("reply =")], names)
    assert names["model"].name == "anthropic:claude-opus-5"
