"""Answers from a recording. Equal requests get their answers in the order of the recording."""

from __future__ import annotations

import threading
from collections import defaultdict, deque
from collections.abc import Callable
from pathlib import Path

from warpwright.core.protocols import Reply, Request
from warpwright.models.api.failures import AttemptFailed, answered
from warpwright.models.lines import read_lines
from warpwright.models.recordings.recording import Exchange, identity


class Replay:
    """Returns recorded replies with their usage and cost, so that a replayed run makes the same decisions."""

    def __init__(self, file: Path, *, name: str = "replay", match: Callable[[Request], str] = identity) -> None:
        """Reads a recording. A request gets the next answer to a request with the same `match`."""
        self.name, self._match = name, match
        self._lock = threading.Lock()
        self._left: dict[str, deque[Exchange]] = defaultdict(deque)
        for exchange in read_lines(file, Exchange, torn_end=True):
            self._left[match(exchange.request)].append(exchange)

    def ceiling(self, request: Request) -> float | None:
        """Returns the recorded cost of the answer: a budget then ends a replay where it ended the original run."""
        with self._lock:
            left = self._left.get(self._match(request))
            reply = left[0].reply if left else None
        return (reply.cost_usd if reply else None) or 0.0

    def complete(self, request: Request) -> Reply:
        with self._lock:
            left = self._left.get(self._match(request))
            exchange = left.popleft() if left else None
        if exchange is None:
            what = f"{self.name} has no answer left for this request ({request.purpose})"
            raise AttemptFailed("unreachable", what, cost_usd=0.0)
        if (failed := exchange.failure) is not None:
            raise AttemptFailed(
                failed.kind,
                failed.message,
                retryable=failed.retryable,
                cost_usd=failed.cost_usd,
                usage=failed.usage,
                earlier=exchange.earlier,
            )
        assert exchange.reply is not None
        return answered(exchange.reply, exchange.earlier)
