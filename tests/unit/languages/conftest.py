"""The toy language, in the room for as long as a test asks for it."""

from __future__ import annotations

import sys
from collections.abc import Iterator
from pathlib import Path

import pytest

from warpwright import languages


@pytest.fixture
def toy(monkeypatch: pytest.MonkeyPatch) -> Iterator[languages.Frontend]:
    """Found as a package that lies in the room would be."""
    monkeypatch.setattr(languages, "__path__", [*languages.__path__, str(Path(__file__).parent / "room")])
    languages.frontends.cache_clear()
    yield languages.named("toy")
    monkeypatch.undo()
    languages.frontends.cache_clear()
    del sys.modules["warpwright.languages.toy"]
