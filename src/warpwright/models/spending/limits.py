"""Limits on calls, as models that wrap models: concurrent calls, calls per minute, and a budget in dollars.

The correct order is Limited around Metered around a server, with retries around both: a waiting call reserves no money,
and every attempt is paid separately.
"""

from __future__ import annotations

import contextlib
import math
import threading
from collections import deque
from dataclasses import replace
from typing import Protocol

from warpwright.core.errors import UsageError
from warpwright.core.protocols import Model, Reply, Request
from warpwright.models.api.failures import AttemptFailed
from warpwright.models.clock import Clock, SystemClock

DEFAULT_MAX_TOKENS = 32_000
"""The answer length assumed with a budget; without a limit the cost of a call has no upper bound."""
_NANO = 1_000_000_000
_MINUTE_S = 60.0


class Priced(Model, Protocol):
    """A model that can bound the cost of an answer before the call; None if the bound is unknown."""

    def ceiling(self, request: Request) -> float | None: ...


class Limited:
    """Limits the number of concurrent calls and of calls started in any minute; further calls wait."""

    def __init__(
        self, model: Model, *, at_once: int | None = None, per_minute: int | None = None, clock: Clock | None = None
    ) -> None:
        if any(limit is not None and limit < 1 for limit in (at_once, per_minute)):
            raise UsageError(f"the limits on calls to {model.name} leave none; give at least 1")
        self.name = model.name
        self._model, self._clock = model, clock or SystemClock()
        self._places = contextlib.nullcontext() if at_once is None else threading.BoundedSemaphore(at_once)
        self._starts: deque[float] | None = None if per_minute is None else deque(maxlen=per_minute)
        self._lock = threading.Lock()

    def complete(self, request: Request) -> Reply:
        with self._places:
            wait_s = self._until_turn()
            if wait_s > 0:
                self._clock.sleep(wait_s)
            return self._model.complete(request)

    def _until_turn(self) -> float:
        """Returns the seconds until this call may start, and reserves that start, so that two calls never take one
        place.
        """
        if self._starts is None:
            return 0.0
        with self._lock:
            now = self._clock.now()
            full = len(self._starts) == self._starts.maxlen
            start = max(now, self._starts[0] + _MINUTE_S) if full else now
            self._starts.append(start)
            return start - now


class Budget:
    """Dollars shared by several models; spent and reserved money together never exceed the limit. Counted in
    billionths, so that sums are exact.
    """

    def __init__(self, usd: float) -> None:
        if not 0 <= usd < math.inf:
            raise UsageError(f"a budget of {usd} dollars cannot be kept; give a number from 0 up")
        self._lock = threading.Lock()
        self._limit, self._spent, self._held, self._unpriced = round(usd * _NANO), 0, 0, 0

    @property
    def usd(self) -> float:
        return self._limit / _NANO

    @property
    def spent_usd(self) -> float:
        """The cost of finished calls. A call that was sent but has no known cost counts with its upper bound."""
        return self._spent / _NANO

    @property
    def in_flight_usd(self) -> float:
        return self._held / _NANO

    @property
    def unpriced(self) -> int:
        """The number of calls with an unknown price. With any, the sum spent is a lower bound."""
        return self._unpriced

    def hold(self, ceiling: float) -> None:
        """Reserves the upper bound of a call's cost, or refuses the call."""
        most = _billionths(ceiling)
        with self._lock:
            if self._spent + self._held + most <= self._limit:
                self._held += most
                return
            fits_later = self._spent + most <= self._limit
        raise AttemptFailed("budget", self._refusal(ceiling), retryable=fits_later, cost_usd=0.0)

    def settle(self, ceiling: float, cost: float | None) -> None:
        """Releases the reservation of a call and adds its cost."""
        most = _billionths(ceiling)
        with self._lock:
            self._held -= most
            self._spent += most if cost is None else _billionths(cost)

    def count_unpriced(self) -> None:
        with self._lock:
            self._unpriced += 1

    def _refusal(self, ceiling: float) -> str:
        return (
            f"a call that may cost ${ceiling:.4f} could pass the budget of ${self.usd:.2f}: "
            f"${self.spent_usd:.4f} is spent and ${self.in_flight_usd:.4f} in flight"
        )


def _billionths(usd: float) -> int:
    """Rounds up, except for the rounding error of a float."""
    return math.ceil(round(usd * _NANO, 3))


class Metered:
    """A model whose calls are paid from a budget. A call that might exceed it is refused before it is sent."""

    def __init__(
        self,
        model: Priced,
        *,
        budget: Budget,
        allow_unpriced: bool = False,
        max_tokens: int = DEFAULT_MAX_TOKENS,
    ) -> None:
        self.name = model.name
        self._model, self._budget, self._max_tokens = model, budget, max_tokens
        smallest = Request(prompt="", purpose="price", max_tokens=max_tokens)
        if not allow_unpriced and model.ceiling(smallest) is None:
            raise UsageError(
                f"the price of {self.name} is not known, so no budget can limit it; "
                "put it into $WARPWRIGHT_PRICES, or allow models without a price"
            )

    def complete(self, request: Request) -> Reply:
        if request.max_tokens is None:
            request = replace(request, max_tokens=self._max_tokens)
        ceiling = self._model.ceiling(request)
        if ceiling is None:
            self._budget.count_unpriced()
            return self._model.complete(request)
        self._budget.hold(ceiling)
        return self._paid(request, ceiling)

    def _paid(self, request: Request, ceiling: float) -> Reply:
        cost: float | None = None
        try:
            reply = self._model.complete(request)
            cost = reply.cost_usd
            return reply
        except AttemptFailed as error:
            cost = error.cost_usd
            raise
        finally:
            self._budget.settle(ceiling, cost)
