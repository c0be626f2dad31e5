"""Provides a server, a clock that does not wait, and a model with scripted behaviour."""

from __future__ import annotations

import importlib.util
import sys
import threading
from collections.abc import Callable, Iterator
from pathlib import Path
from types import ModuleType
from typing import Any

import pytest

from warpwright.core.protocols import Reply, Request


def _beside(name: str) -> ModuleType:
    """Test files are imported one by one, so what lies beside them is not found by name."""
    spec = importlib.util.spec_from_file_location(name, Path(__file__).with_name(f"{name}.py"))
    assert spec is not None
    assert spec.loader is not None
    module = sys.modules[name] = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


OpenAIServer = _beside("openai_server").OpenAIServer


@pytest.fixture
def server() -> Iterator[Any]:
    with OpenAIServer() as running:
        yield running


class FakeClock:
    """Advances the clock without waiting."""

    def __init__(self) -> None:
        self.time, self.slept = 1000.0, []
        self.on_sleep: Callable[[], None] = lambda: None
        self._lock = threading.Lock()

    def now(self) -> float:
        return self.time

    def sleep(self, seconds: float) -> None:
        with self._lock:
            self.slept.append(seconds)
            self.time += seconds
        self.on_sleep()


@pytest.fixture
def clock() -> FakeClock:
    return FakeClock()


class Parrot:
    """A model with a list of outcomes: raises exceptions, returns replies, and wraps texts."""

    def __init__(self, *doings: Any, ceiling: float | None = 0.0) -> None:
        self.name, self.doings, self.asked = "parrot", list(doings), []
        self._ceiling = ceiling

    def ceiling(self, request: Request) -> float | None:
        return self._ceiling

    def complete(self, request: Request) -> Reply:
        self.asked.append(request)
        doing = self.doings.pop(0) if self.doings else "hello"
        if callable(doing):
            doing = doing(request)
        if isinstance(doing, Exception):
            raise doing
        return doing if isinstance(doing, Reply) else Reply(text=doing, model=self.name)


@pytest.fixture
def parrot() -> type[Parrot]:
    return Parrot


@pytest.fixture
def ask() -> Callable[..., Request]:
    def request(prompt: str = "write a kernel", **more: Any) -> Request:
        return Request(**{"prompt": prompt, "purpose": "translate", **more})

    return request
