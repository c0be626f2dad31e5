"""`warpwright report`: searches as a page that opens anywhere."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from warpwright.cli.output import Json, emit
from warpwright.cli.search.beforehand import check_file
from warpwright.cli.search.options import ArchivePlace
from warpwright.core.errors import UsageError


def report(
    runs: Annotated[list[str], typer.Argument(metavar="RUN", help="Ids of runs, or their beginnings.")],
    html: Annotated[Path, typer.Option("--html", metavar="FILE", help="Where to write the page.")] = Path(
        "report.html"
    ),
    archive: ArchivePlace = None,
    as_json: Json = False,
) -> None:
    """Write runs as one page that opens in any browser.

    The funnel, the way up, the best kernel and the evidence for it.
    """
    from warpwright.archive.opening import open_archive
    from warpwright.cli.screen import waiting
    from warpwright.evolve.fold import fold
    from warpwright.report.page import page

    check_file(html)
    chapters = []
    with open_archive(archive, to_read=True) as opened:
        found = [opened.run(name) for name in runs]
        with waiting("reading", silent=as_json):
            from warpwright.cli.search.chapters import chapter
            from warpwright.search.wiring import settings_of, task_of

            for run in found:
                settings = settings_of(run)
                snapshot = fold(run, opened.log(run.id))
                chapters.append(chapter(opened, task_of(settings), snapshot, settings.flags.gpu))
    try:
        html.write_text(page("Warpwright report", chapters), encoding="utf-8")
    except OSError as error:
        raise UsageError(f"{html} cannot be written: {error.strerror}") from None
    if as_json:
        emit("report/1", page=str(html), runs=[run.id for run in found])
    else:
        typer.echo(str(html))
