"""A clock that can be replaced, so that tests do not wait."""

from __future__ import annotations

import time
from typing import Protocol


class Clock(Protocol):
    """A clock. `sleep` may raise ModelFailed, by which the end of a run wakes waiting calls."""

    def now(self) -> float: ...

    def sleep(self, seconds: float) -> None: ...


class SystemClock:
    """The monotonic clock of the system."""

    def now(self) -> float:
        return time.monotonic()

    def sleep(self, seconds: float) -> None:
        time.sleep(seconds)
