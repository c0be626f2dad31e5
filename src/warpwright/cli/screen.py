"""Tables, progress and colours. The only module that imports Rich, and only verbs that print import it."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from contextlib import AbstractContextManager, contextmanager, nullcontext

from rich import box
from rich.console import Console
from rich.markup import escape
from rich.progress import BarColumn, MofNCompleteColumn, TextColumn, TimeElapsedColumn
from rich.progress import Progress as Bars
from rich.table import Column, Table

from warpwright.app.progress import OnProgress
from warpwright.cli.output import silence_stdout, visible

PIPE_WIDTH = 160
"""The width of tables; without a terminal they are not cut to 80 columns."""


class Screen(Console):
    def on_broken_pipe(self) -> None:
        silence_stdout()


def screen() -> Screen:
    found = Screen(highlight=False)
    return found if found.is_terminal else Screen(highlight=False, width=PIPE_WIDTH)


def show_table(columns: Sequence[str], rows: Iterable[Sequence[str]], title: str | None = None) -> None:
    """Prints a table. Cells may contain markup; text of others goes through `plain` first."""
    # Wrapped, not cut: half the name of a run or variable is of no use.
    folded = [Column(name, overflow="fold") for name in columns]
    table = Table(*folded, title=title, title_justify="left", box=box.SIMPLE_HEAD, pad_edge=False)
    for row in rows:
        table.add_row(*row)
    screen().print(table)


def plain(text: object) -> str:
    return escape(visible(str(text)))


def good(text: object) -> str:
    return f"[green]{plain(text)}[/green]"


def bad(text: object) -> str:
    return f"[red]{plain(text)}[/red]"


def faint(text: object) -> str:
    return f"[dim]{plain(text)}[/dim]"


def bar_of(share: float, width: int = 24) -> str:
    """Draws a share as a bar of blocks."""
    full = round(min(max(share, 0.0), 1.0) * width)
    return f"[green]{'█' * full}[/green][dim]{'░' * (width - full)}[/dim]"


def waiting(label: str, *, silent: bool = False) -> AbstractContextManager[object]:
    """Shows activity on stderr during work of unknown length."""
    console = Console(stderr=True)
    return console.status(plain(label)) if console.is_terminal and not silent else nullcontext()


@contextmanager
def progress(*, silent: bool = False) -> Iterator[OnProgress]:
    """Shows a progress bar on stderr, so that stdout stays clean; nothing without a terminal."""
    console = Console(stderr=True)
    columns = (BarColumn(), MofNCompleteColumn(), TimeElapsedColumn(), TextColumn("{task.description}"))
    with Bars(*columns, console=console, transient=True, disable=silent or not console.is_terminal) as bars:
        task = bars.add_task("", total=None)
        yield lambda update: bars.update(
            task, description=plain(update.label), completed=update.done, total=update.total
        )
