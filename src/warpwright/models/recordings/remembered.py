"""Reuses recorded answers: a resumed run asks its models only what has no answer yet."""

from __future__ import annotations

from collections.abc import Iterable

from warpwright.core.protocols import Model, Reply, Request
from warpwright.core.records.search import Call


class Remembered:
    """A Model that returns the recorded answer to a request that was answered before."""

    def __init__(self, model: Model, calls: Iterable[Call]) -> None:
        self.name = model.name
        self._model = model
        self._known = {(call.purpose, call.prompt): call for call in calls if call.reply is not None}

    def complete(self, request: Request) -> Reply:
        call = self._known.get((request.purpose, request.prompt))
        if call is None or call.reply is None:
            return self._model.complete(request)
        return Reply(text=call.reply, model=call.model, usage=call.usage, cost_usd=call.cost_usd, seconds=call.seconds)
