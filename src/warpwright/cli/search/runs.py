"""`warpwright runs`: lists searches and shows their history."""

from __future__ import annotations

from typing import Annotated

import typer

from warpwright.cli.output import Json, emit
from warpwright.cli.search.options import ArchivePlace

app = typer.Typer(help="List, show, export and import searches.", no_args_is_help=True, rich_markup_mode=None)
RunName = Annotated[str, typer.Argument(metavar="RUN", help="Its id, or a prefix of it.")]


@app.command("list", epilog="Example: warpwright runs list")
def list_runs(archive: ArchivePlace = None, as_json: Json = False) -> None:
    """List all runs of the archive, oldest first."""
    from warpwright.app.searches.reports import runs
    from warpwright.archive.database.address import address, shown
    from warpwright.cli.screen import plain, screen, show_table
    from warpwright.report.funnel import best
    from warpwright.report.scores import spent_words, standing_words

    snapshots = runs(archive)
    if as_json:
        emit("runs.list/1", runs=[{"run": item.run, "best": best(item), "spent": item.spent} for item in snapshots])
        return
    if not snapshots:
        screen().print(
            f"There are no runs yet in {plain(shown(address(archive)))}; start one with `warpwright optimize TASK`."
        )
        return
    rows = []
    for item in snapshots:
        winner = best(item)
        standing = standing_words(winner) if winner else "nothing correct yet"
        rows.append(
            [plain(cell) for cell in (item.run.id, item.run.started, item.run.task, standing, spent_words(item.spent))]
        )
    show_table(("run", "started", "task", "best", "spent"), rows)


@app.command("show", epilog="Example: warpwright runs show 1a2b")
def show_run(name: RunName, archive: ArchivePlace = None, as_json: Json = False) -> None:
    """Show every decision of a run, and its results.

    Decisions with their reasons, proposals with their fates.
    """
    from warpwright.app.searches.reports import history

    snapshot = history(name, archive)
    if as_json:
        emit("runs.show/1", snapshot=snapshot)
        return
    from warpwright.cli.search.history import show

    show(snapshot)


@app.command("export", epilog="Example: warpwright runs export 1a2b run.jsonl")
def export_run(
    name: RunName,
    file: Annotated[str, typer.Argument(metavar="FILE", help="The file to write, as JSON lines.")],
    archive: ArchivePlace = None,
    as_json: Json = False,
) -> None:
    """Export one run exactly, for use on another machine."""
    from pathlib import Path

    from warpwright.archive.opening import open_archive

    with open_archive(archive, to_read=True) as opened:
        run = opened.run(name)
        opened.export_log(run.id, Path(file))
    if as_json:
        emit("runs.export/1", run=run.id, file=file)
    else:
        typer.echo(f"run {run.id} in {file}")


@app.command("import", epilog="Example: warpwright runs import run.jsonl")
def import_run(
    file: Annotated[str, typer.Argument(metavar="FILE", help="A file written by `runs export`.")],
    archive: ArchivePlace = None,
    as_json: Json = False,
) -> None:
    """Import a run from another machine."""
    from pathlib import Path

    from warpwright.archive.opening import open_archive

    with open_archive(archive) as opened:
        run = opened.import_log(Path(file))
    if as_json:
        emit("runs.import/1", run=run.id, task=run.task)
    else:
        typer.echo(f"run {run.id}")
