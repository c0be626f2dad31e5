"""`warpwright report`: searches as a page that opens anywhere."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from warpwright.cli.optimize import ArchivePlace
from warpwright.core.errors import UsageError


def report(
    runs: Annotated[list[str], typer.Argument(metavar="RUN...", help="Ids of runs, or their beginnings.")],
    html: Annotated[Path, typer.Option("--html", metavar="FILE", help="Where to write the page.")] = Path(
        "report.html"
    ),
    archive: ArchivePlace = None,
) -> None:
    """Write a self-contained page: the funnel, the way up, the best kernel and the evidence for it."""
    from warpwright.archive.opening import open_archive
    from warpwright.cli.chapters import chapter
    from warpwright.evolve.fold import fold
    from warpwright.report.page import page
    from warpwright.wiring import settings_of, task_of

    chapters = []
    with open_archive(archive) as opened:
        for name in runs:
            run = opened.run(name)
            settings = settings_of(run)
            snapshot = fold(run, opened.log(run.id))
            chapters.append(chapter(opened, task_of(settings), snapshot, settings.flags.gpu))
    try:
        html.write_text(page("Warpwright report", chapters), encoding="utf-8")
    except OSError as error:
        raise UsageError(f"{html} cannot be written: {error.strerror}") from None
    typer.echo(str(html))
