"""Specs become models without a request and without loading the client library; missing keys and packages are named."""

from __future__ import annotations

import json
import socket
import subprocess
import sys
from pathlib import Path

import pytest

from warpwright.core.errors import ModelFailed, UsageError
from warpwright.models.api import provider
from warpwright.models.api.provider import Wire
from warpwright.models.named import HOMES, Terms, model_named
from warpwright.models.spending.limits import Budget
from warpwright.models.spending.prices import Prices

KEYS = {"ANTHROPIC_API_KEY": "a", "OPENAI_API_KEY": "b", "GOOGLE_API_KEY": "c"}
NONE = Prices()


def named(spec, environment=KEYS, folder=Path(), **terms):
    return model_named(spec, folder=folder, prices=NONE, terms=Terms(**terms), environment=environment)


@pytest.fixture
def built(monkeypatch):
    """The providers that are built, without their wrappers."""
    seen = []
    monkeypatch.setattr(provider.Provider, "__post_init__", lambda made: seen.append(made))
    return seen


@pytest.mark.parametrize(
    ("spec", "wire", "key", "stream", "structured"),
    [
        ("anthropic:claude-opus-5", Wire.ANTHROPIC, "a", True, True),
        ("openai:gpt-5", Wire.RESPONSES, "b", True, True),
        ("google:gemini-2.5-pro", Wire.GOOGLE, "c", True, True),
        ("openai:qwen@http://127.0.0.1:8000/v1", Wire.CHAT, None, False, False),
        ("anthropic:claude-opus-5@https://proxy.example.org", Wire.ANTHROPIC, None, False, True),
    ],
)
def test_a_provider_is_built_for_its_server(built, spec, wire, key, stream, structured):
    assert named(spec).name == spec
    (made,) = built
    assert (made.wire, made.key, made.stream, made.structured) == (wire, key, stream, structured)
    assert made.url == (spec.partition("@")[2] or HOMES[spec.partition(":")[0]].url)
    assert made.model == spec.partition(":")[2].partition("@")[0]


def test_streaming_and_the_deadline_can_be_chosen(built):
    named("openai:gpt-5", stream=False, deadline_s=5.0)
    assert (built[0].stream, built[0].deadline_s) == (False, 5.0)


def test_nothing_is_sent_when_a_model_is_named(monkeypatch):
    def refuse(*_):
        raise AssertionError("a connection was opened")

    monkeypatch.setattr(socket.socket, "connect", refuse)
    for spec in ("anthropic:claude-opus-5", "openai:gpt-5", "google:gemini-2.5-pro", "openai:q@http://127.0.0.1:1/v1"):
        assert named(spec, budget=Budget(1.0), allow_unpriced=True).name == spec


@pytest.mark.parametrize(
    ("spec", "variable"),
    [
        ("anthropic:m", "ANTHROPIC_API_KEY"),
        ("openai:m", "OPENAI_API_KEY"),
        ("google:m", "GEMINI_API_KEY or GOOGLE_API_KEY"),
    ],
)
@pytest.mark.parametrize("value", [None, "", "  "])
def test_a_missing_key_is_named(spec, variable, value):
    environment = {} if value is None else dict.fromkeys(KEYS, value)
    with pytest.raises(UsageError, match=f"set {variable}"):
        named(spec, environment)


@pytest.mark.parametrize("key", ["sk\nsecond", "schlüssel", "two words"])
def test_an_invalid_key_is_refused_without_showing_it(key):
    with pytest.raises(UsageError, match="OPENAI_API_KEY is no key") as refused:
        named("openai:m", {"OPENAI_API_KEY": key})
    assert key not in str(refused.value)


def test_a_line_break_after_a_key_is_ignored(built):
    named("openai:m", {"OPENAI_API_KEY": "sk-1\n"})
    assert built[0].key == "sk-1"


@pytest.mark.parametrize("missing", ["pydantic_ai", "openai"])
def test_without_the_optional_packages_the_remedy_is_named(monkeypatch, missing):
    monkeypatch.setattr(provider, "find_spec", lambda name: None if name == missing else object())
    with pytest.raises(UsageError, match=r"pip install 'warpwright\[llm\]'"):
        named("openai:m")


def test_without_any_google_package_the_remedy_is_the_same(monkeypatch):
    def look(name):
        if name == "google.genai":
            raise ModuleNotFoundError
        return object()

    monkeypatch.setattr(provider, "find_spec", look)
    with pytest.raises(UsageError, match="pip install"):
        named("google:m")


def test_a_budget_needs_a_price(tmp_path):
    with pytest.raises(UsageError, match="price of mailbox:box is not known"):
        named("mailbox:box", folder=tmp_path, budget=Budget(1.0))
    assert named("mailbox:box", folder=tmp_path, budget=Budget(1.0), allow_unpriced=True).name == "mailbox:box"


def test_relative_paths_start_in_the_folder(tmp_path, ask):
    (tmp_path / "s.jsonl").write_text(json.dumps({"text": "scripted"}))
    assert named("scripted:s.jsonl", folder=tmp_path).complete(ask()).text == "scripted"
    (tmp_path / "agent.sh").write_text("#!/bin/sh\necho ran\n")
    (tmp_path / "agent.sh").chmod(0o755)
    assert named("command:./agent.sh", folder=tmp_path).complete(ask()).text == "ran\n"
    assert named("mailbox:box", folder=tmp_path).name == "mailbox:box"
    assert (tmp_path / "box").is_dir()


def test_a_home_directory_is_expanded(tmp_path, monkeypatch, ask):
    monkeypatch.setenv("HOME", str(tmp_path))
    (tmp_path / "s.jsonl").write_text(json.dumps({"text": "at home"}))
    assert named("scripted:~/s.jsonl").complete(ask()).text == "at home"


def test_a_recording_can_be_replayed_by_its_spec(tmp_path, ask):
    (tmp_path / "s.jsonl").write_text('{"text": "once"}\n{"text": "no more", "fails": "rate"}')
    model = named("scripted:s.jsonl", folder=tmp_path, record=tmp_path / "r.jsonl")
    model.complete(ask())
    with pytest.raises(ModelFailed):
        model.complete(ask())
    replay = named("replay:r.jsonl", folder=tmp_path)
    assert replay.complete(ask()).text == "once"
    with pytest.raises(ModelFailed, match="no more"):
        replay.complete(ask())


def test_a_recording_answers_a_reworded_question_of_the_same_purpose_if_asked_to(tmp_path, ask):
    (tmp_path / "s.jsonl").write_text('{"text": "cool"}\n{"text": "warm"}')
    model = named("scripted:s.jsonl", folder=tmp_path, record=tmp_path / "r.jsonl")
    model.complete(ask(temperature=0.1))
    model.complete(ask(temperature=0.9))
    reworded = named("reworded:r.jsonl", folder=tmp_path)
    assert reworded.complete(ask("in other words", temperature=0.9)).text == "warm"
    with pytest.raises(ModelFailed, match="no answer left"):
        reworded.complete(ask("in other words", purpose="repair", temperature=0.1))
    with pytest.raises(ModelFailed, match="no answer left"):
        named("replay:r.jsonl", folder=tmp_path).complete(ask("in other words", temperature=0.9))


def test_importing_the_room_loads_nothing_heavy():
    script = "import warpwright.models, sys; print(*sys.modules)"
    ran = subprocess.run([sys.executable, "-c", script], capture_output=True, text=True, check=True, timeout=120)
    heavy = {"pydantic_ai", "pydantic", "openai", "anthropic", "google.genai", "genai_prices", "torch", "httpx2"}
    assert not heavy & set(ran.stdout.split())
