"""Answers from a script, for tests and demonstrations: JSON lines, each with a reply, used once each and in order.

{"text": "..."}                              the next answer
{"text": "...", "when": "repair"}            only for a prompt that contains these words
{"text": "...", "usage": {"input": 9, "output": 3}, "cost_usd": 0.01}
{"text": "{\\"sure\\": true}", "parsed": {"sure": true}}   for a request with a schema
{"text": "too many calls", "fails": "rate"}  no answer, but a failure of this kind
"""

from __future__ import annotations

import threading
from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from warpwright.core.protocols import Reply, Request
from warpwright.models.api.failures import AttemptFailed
from warpwright.models.lines import read_lines


@dataclass(frozen=True, slots=True, kw_only=True)
class Line:
    """One line of a script. It costs nothing unless it states a price to test a budget."""

    text: str
    when: str | None = None
    usage: Mapping[str, int] = field(default_factory=dict)
    cost_usd: float = 0.0
    parsed: Any = None
    fails: str | None = None


class Scripted:
    def __init__(self, file: Path, *, name: str = "scripted") -> None:
        self.name = name
        self._lock = threading.Lock()
        self._left = read_lines(file, Line)
        self._largest_cost = max((line.cost_usd for line in self._left), default=0.0)

    def ceiling(self, request: Request) -> float | None:
        return self._largest_cost

    def complete(self, request: Request) -> Reply:
        line = self._next(request.prompt)
        if line.fails is not None:
            raise AttemptFailed(line.fails, line.text, cost_usd=line.cost_usd, usage=line.usage)
        parsed = line.parsed if request.schema is not None else None
        return Reply(
            text=line.text, model=self.name, usage=line.usage, cost_usd=line.cost_usd, parsed=parsed, seconds=0.0
        )

    def _next(self, prompt: str) -> Line:
        with self._lock:
            for line in self._left:
                if line.when is None or line.when in prompt:
                    self._left.remove(line)
                    return line
        raise AttemptFailed("unreachable", f"{self.name} has no line left for this prompt", cost_usd=0.0)
