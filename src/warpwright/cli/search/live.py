"""Shows the progress of a search: a small table on a terminal, otherwise one line for each step."""

from __future__ import annotations

import time
from collections.abc import Iterator
from contextlib import contextmanager

from rich.console import Console, Group
from rich.live import Live
from rich.table import Table
from rich.text import Text

from warpwright.app.progress import OnProgress, Update
from warpwright.core.records.search import Snapshot
from warpwright.report.funnel import best, funnel
from warpwright.report.scores import spent_words, standing_words
from warpwright.search.settings import Settings


@contextmanager
def watching(settings: Settings, *, silent: bool) -> Iterator[OnProgress]:
    console = Console(stderr=True)
    if silent or not console.is_terminal:
        yield Plain(console, silent=silent)
        return
    view = View(settings)
    with Live(view, console=console, refresh_per_second=4, transient=True):
        yield view


class Plain:
    """Prints each step once, for logs."""

    def __init__(self, console: Console, *, silent: bool) -> None:
        self._console, self._silent, self._last = console, silent, ""

    def __call__(self, update: Update) -> None:
        if update.label != self._last and not self._silent:
            self._console.print(update.label, style="dim", markup=False, highlight=False, soft_wrap=True)
        self._last = update.label


class View:
    """Shows the state of the run and the current step on a terminal."""

    def __init__(self, settings: Settings) -> None:
        self._settings, self._what, self._started = settings, "starting", time.monotonic()
        self._snapshot: Snapshot | None = None

    def __call__(self, update: Update) -> None:
        self._snapshot, self._what = update.snapshot or self._snapshot, update.label

    def __rich__(self) -> Group:
        elapsed = time.monotonic() - self._started
        status = Text(f"{self._what} ({elapsed:.0f} s, {self._settings.workers} workers)", style="dim")
        return Group(_table(self._snapshot, self._settings), status) if self._snapshot else Group(status)


def _table(snapshot: Snapshot, settings: Settings) -> Table:
    table = Table.grid(padding=(0, 2))
    policy = settings.policy
    table.add_row("generation", f"{snapshot.generation} of {policy.generations}")
    counted = funnel(snapshot)
    fates = ", ".join(f"{count} {fate}" for fate, count in counted.by_fate.items())
    rungs = ", ".join(f"{count} by {rung}" for rung, count in counted.refuted_by.items())
    table.add_row("proposals", f"{counted.proposed}: {fates}" + (f" ({rungs})" if rungs else ""))
    table.add_row("best", _best(snapshot))
    table.add_row("spent", spent_words(snapshot.spent, policy.budget.usd))
    return table


def _best(snapshot: Snapshot) -> str:
    winner = best(snapshot)
    return standing_words(winner) if winner else "none yet"
