"""Time, as something that can be handed over, so that tests wait in no time at all."""

from __future__ import annotations

import time
from typing import Protocol


class Clock(Protocol):
    """`sleep` may raise ModelFailed: whoever ends a run can wake the waiting that way."""

    def now(self) -> float: ...

    def sleep(self, seconds: float) -> None: ...


class SystemClock:
    """Seconds that only grow, whatever happens to the date."""

    def now(self) -> float:
        return time.monotonic()

    def sleep(self, seconds: float) -> None:
        time.sleep(seconds)
