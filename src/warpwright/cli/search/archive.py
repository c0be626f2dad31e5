"""`warpwright archive`: exports all runs as a dataset."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from warpwright.cli.output import Json, emit
from warpwright.cli.search.options import ArchivePlace

app = typer.Typer(help="Export the records of all runs as a dataset.", no_args_is_help=True, rich_markup_mode=None)


@app.command("export", epilog="Example: warpwright archive export --format parquet kernels.parquet")
def export(
    target: Annotated[Path, typer.Argument(metavar="FILE", help="The file to write.")],
    format_: Annotated[str, typer.Option("--format", metavar="FORMAT", help="parquet or jsonl.")] = "jsonl",
    run: Annotated[str | None, typer.Option("--run", metavar="RUN", help="Only this run.")] = None,
    archive: ArchivePlace = None,
    as_json: Json = False,
) -> None:
    """Write all runs as a dataset, one row for each proposal.

    Prompt, source, verdicts, times and costs; docs/archive.md has the columns.
    """
    from warpwright.archive.dataset.export import export as write
    from warpwright.archive.opening import open_archive

    with open_archive(archive, to_read=True) as opened:
        rows = write(opened, format_, target, run)
    if as_json:
        emit("archive.export/1", file=str(target), format=format_, rows=rows)
        return
    typer.echo(f"{rows} rows in {target}")
