"""A model that keeps account: every question and what came of it, as records."""

from __future__ import annotations

import time
from collections.abc import Callable

from warpwright.core.codec import content_id
from warpwright.core.errors import ModelFailed
from warpwright.core.protocols import Model, Reply, Request
from warpwright.core.search import Call


class Noted:
    """A Model whose calls are noted, the failed ones too. `brief` is the number of the brief they serve, if any."""

    def __init__(self, model: Model, brief: int | None = None, *, clock: Callable[[], float] = time.monotonic) -> None:
        self.name = model.name
        self.calls: list[Call] = []
        self._model, self._brief, self._clock = model, brief, clock

    def complete(self, request: Request) -> Reply:
        start = self._clock()
        try:
            reply = self._model.complete(request)
        except ModelFailed as failed:
            self._note(request, None, str(failed), self._clock() - start)
            raise
        self._note(request, reply, None, self._clock() - start)
        return reply

    def _note(self, request: Request, reply: Reply | None, error: str | None, seconds: float) -> None:
        text = reply.text if reply else None
        self.calls.append(
            Call(
                id=content_id([self._brief, len(self.calls), request.purpose, request.prompt, text, error]),
                brief=self._brief,
                purpose=request.purpose,
                model=reply.model if reply else self.name,
                prompt=request.prompt,
                temperature=request.temperature,
                effort=request.effort,
                reply=text,
                error=error,
                usage=reply.usage if reply else {},
                cost_usd=reply.cost_usd if reply else None,
                seconds=seconds if reply is None or reply.seconds is None else reply.seconds,
            )
        )
