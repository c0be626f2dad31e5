"""Retries failed requests while a retry can help. The client libraries retry nothing, so these are the only retries."""

from __future__ import annotations

import random
from collections.abc import Callable
from dataclasses import dataclass

from warpwright.core.errors import ModelFailed
from warpwright.core.protocols import Model, Reply, Request
from warpwright.models.api.failures import AttemptFailed, Failure, answered, billed, failure_of
from warpwright.models.clock import Clock, SystemClock


@dataclass(frozen=True, slots=True, kw_only=True)
class Patience:
    """The number of attempts and their total time. No attempt starts after `total_s`."""

    attempts: int = 6
    total_s: float = 3600.0
    first_wait_s: float = 1.0
    longest_wait_s: float = 60.0

    def wait_s(self, failed: int, asked_s: float | None, chance: float) -> float:
        """Seconds to wait after a number of failures: at least what the server requests, with jitter to spread
        threads.
        """
        if asked_s is not None:
            return asked_s + chance * self.first_wait_s
        return min(self.longest_wait_s, self.first_wait_s * 2.0 ** (failed - 1)) * (0.5 + 0.5 * chance)


class Retried:
    """A model whose transient failures are retried."""

    def __init__(
        self,
        model: Model,
        *,
        patience: Patience | None = None,
        clock: Clock | None = None,
        chance: Callable[[], float] = random.random,
    ) -> None:
        self.name = model.name
        self._model, self._chance = model, chance
        self._patience, self._clock = patience or Patience(), clock or SystemClock()

    def complete(self, request: Request) -> Reply:
        begun, failures = self._clock.now(), list[Failure]()
        while True:
            attempted = self._clock.now()
            try:
                return answered(self._model.complete(request), billed(failures))
            except ModelFailed as error:
                wait_s = self._wait_s(error, len(failures) + 1, begun)
                if wait_s is None:
                    _attach_earlier(error, billed(failures))
                    raise
                failures.append(failure_of(error, self._clock.now() - attempted))
            self._clock.sleep(wait_s)

    def _wait_s(self, error: ModelFailed, failed: int, begun: float) -> float | None:
        """Returns the wait before the next attempt; None if no attempt is worthwhile."""
        if not error.retryable or failed >= self._patience.attempts:
            return None
        asked_s = error.wait_s if isinstance(error, AttemptFailed) else None
        wait_s = self._patience.wait_s(failed, asked_s, self._chance())
        in_time = self._clock.now() - begun + wait_s <= self._patience.total_s
        return wait_s if in_time else None


def _attach_earlier(error: ModelFailed, earlier: tuple[Failure, ...]) -> None:
    """Adds the earlier attempts to the last failure."""
    if isinstance(error, AttemptFailed):
        error.earlier = earlier
