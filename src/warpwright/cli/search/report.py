"""`warpwright report`: searches as a self-contained page."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from warpwright.cli.output import Json, emit
from warpwright.cli.search.beforehand import check_file
from warpwright.cli.search.options import ArchivePlace


def report(
    runs: Annotated[list[str], typer.Argument(metavar="RUN", help="Ids of runs, or prefixes of them.")],
    html: Annotated[Path, typer.Option("--html", metavar="FILE", help="The file to write.")] = Path("report.html"),
    archive: ArchivePlace = None,
    as_json: Json = False,
) -> None:
    """Write runs as one page that opens in any browser.

    The funnel, the progress, the best kernel and its evidence.
    """
    from warpwright.cli.screen import progress

    check_file(html)
    with progress(silent=as_json) as told:
        from warpwright.app.searches.reports import report as report_on

        found = report_on(runs, archive=archive, on_progress=told)
    found.save(html)
    if as_json:
        emit("report/1", page=str(html), runs=[run.id for run in found.runs])
    else:
        typer.echo(str(html))
