"""What rooms ask of each other without importing each other."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any, Protocol

from warpwright.core.climb import Climb


class Rung(Protocol):
    """One step of the verification ladder."""

    name: str

    def climb(self, climbed: Climb) -> Climb:
        """Add this rung's evidence, and what it made for later rungs, to the climb so far."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Request:
    """A question to a language model."""

    prompt: str
    purpose: str
    temperature: float | None = None
    effort: str | None = None
    max_tokens: int | None = None
    schema: Mapping[str, Any] | None = None
    """JSON schema of a typed answer, where one is wanted. Code never travels as JSON."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Reply:
    """A language model's answer. An unknown price is None, never zero."""

    text: str
    model: str
    usage: Mapping[str, int] = field(default_factory=dict)
    cost_usd: float | None = None
    parsed: Any = None
    """Plain data, where the request had a schema and the model kept to it."""
    seconds: float | None = None


class Model(Protocol):
    """Raises ModelFailed where no answer could be had."""

    name: str

    def complete(self, request: Request) -> Reply: ...


class Progress(Protocol):
    """Told of long work as it goes, so that a face can show it."""

    def start(self, total: int, label: str) -> None: ...

    def advance(self, label: str) -> None: ...
