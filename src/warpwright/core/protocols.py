"""Interfaces by which rooms use each other without an import."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any, Protocol

from warpwright.core.climb import Climb
from warpwright.core.codec import OMIT_DEFAULT


class Rung(Protocol):
    """One step of the verification ladder."""

    name: str

    def climb(self, climbed: Climb) -> Climb:
        """Adds this rung's evidence, and any artefact for later rungs, to the climb."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Request:
    """A question to a language model."""

    prompt: str
    purpose: str
    temperature: float | None = None
    effort: str | None = None
    max_tokens: int | None = None
    shared: int = field(default=0, metadata=OMIT_DEFAULT)
    """The number of characters at the beginning of the prompt that other requests share, which a provider may cache."""
    schema: Mapping[str, Any] | None = None
    """The JSON schema of a typed answer, if one is wanted. Code is never sent as JSON."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Reply:
    """A language model's answer. An unknown price is None, never zero."""

    text: str
    model: str
    usage: Mapping[str, int] = field(default_factory=dict)
    cost_usd: float | None = None
    parsed: Any = None
    """Plain data, if the request had a schema and the model followed it."""
    seconds: float | None = None


class Model(Protocol):
    """A language model. Raises ModelFailed if there is no answer."""

    name: str

    def complete(self, request: Request) -> Reply: ...


class Progress(Protocol):
    """Receives the progress of long work, to be shown by a user interface."""

    def start(self, total: int, label: str) -> None: ...

    def advance(self, label: str) -> None: ...
