"""Progress of long work, told to a callback of the caller's."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

from warpwright.core.records.search import Snapshot


@dataclass(frozen=True, slots=True, kw_only=True)
class Update:
    """The current step. `total` is None for work of unknown length."""

    label: str
    done: int = 0
    total: int | None = None
    snapshot: Snapshot | None = None
    """The state of a search."""


OnProgress = Callable[[Update], None]


class Reporter:
    """Turns what rooms report (core's Progress, the Watcher of a search) into updates for one callback."""

    def __init__(self, callback: OnProgress | None) -> None:
        self._callback = callback or (lambda update: None)
        self._now = Update(label="")

    def start(self, total: int, label: str) -> None:
        self._send(Update(label=label, total=total))

    def advance(self, label: str) -> None:
        self._send(Update(label=label, done=self._now.done + 1, total=self._now.total))

    def doing(self, what: str) -> None:
        self._send(Update(label=what, snapshot=self._now.snapshot))

    def saw(self, snapshot: Snapshot) -> None:
        self._send(Update(label=self._now.label, snapshot=snapshot))

    def _send(self, update: Update) -> None:
        self._now = update
        self._callback(update)
