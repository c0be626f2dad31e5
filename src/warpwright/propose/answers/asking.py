"""Records every request to a model and its outcome."""

from __future__ import annotations

import time
from collections.abc import Callable
from dataclasses import replace

from warpwright.core.codec import content_id
from warpwright.core.errors import ModelFailed
from warpwright.core.protocols import Model, Reply, Request
from warpwright.core.records.search import Call
from warpwright.models.api.failures import Failure, earlier, failure_of

Note = Callable[[Call], object]
"""Stores a call at once: a call that was paid for must survive a crash."""


class Noted:
    """A Model whose calls are recorded: answers, failures, and earlier attempts that were or may have been billed.
    `brief` is the number of the brief that the calls serve, if any; `note` is called with each call at once."""

    def __init__(
        self,
        model: Model,
        brief: int | None = None,
        *,
        note: Note | None = None,
        clock: Callable[[], float] = time.monotonic,
    ) -> None:
        self.name = model.name
        self.calls: list[Call] = []
        self._model, self._brief, self._told, self._clock = model, brief, note, clock
        self._questions = 0

    def complete(self, request: Request) -> Reply:
        self._questions += 1
        start = self._clock()
        try:
            reply = self._model.complete(request)
        except ModelFailed as failed:
            self._note_failures(request, (*earlier(failed), failure_of(failed)), self._clock() - start)
            raise
        self._note_failures(request, earlier(reply), 0.0)
        self._note_answer(request, reply, self._clock() - start)
        return reply

    def _note_answer(self, request: Request, reply: Reply, seconds: float) -> None:
        call = self._asked(request, seconds if reply.seconds is None else reply.seconds)
        answer = replace(call, model=reply.model, reply=reply.text, usage=reply.usage, cost_usd=reply.cost_usd)
        self._note(answer, attempt=None)

    def _note_failures(self, request: Request, failures: tuple[Failure, ...], seconds: float) -> None:
        """Records failed attempts; `seconds` is the time of the last, which has none of its own."""
        for attempt, failed in enumerate(failures):
            call = self._asked(request, seconds if failed.seconds is None else failed.seconds)
            self._note(replace(call, error=failed.message, usage=failed.usage, cost_usd=failed.cost_usd), attempt)

    def _asked(self, request: Request, seconds: float) -> Call:
        return Call(
            id="",
            brief=self._brief,
            purpose=request.purpose,
            model=self.name,
            prompt=request.prompt,
            temperature=request.temperature,
            effort=request.effort,
            seconds=seconds,
        )

    def _note(self, call: Call, attempt: int | None) -> None:
        """Records a call. Its id is a hash of its whole content: an answer restored from an earlier session gets the
        same id, however many attempts preceded it; a repeated failure gets another."""
        known = replace(call, id=content_id([self._questions, attempt, call]))
        self.calls.append(known)
        if self._told is not None:
            self._told(known)
