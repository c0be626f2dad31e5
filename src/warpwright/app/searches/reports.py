"""Runs that were recorded, and pages on them."""

from __future__ import annotations

import html
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

from warpwright.app.progress import OnProgress, Reporter
from warpwright.core.candidate import Candidate
from warpwright.core.errors import UsageError
from warpwright.core.records.search import Run, Snapshot
from warpwright.evolve.fold import fold
from warpwright.report.page import Chapter, page

if TYPE_CHECKING:
    from warpwright.archive.store import Archive


@dataclass(frozen=True, slots=True, kw_only=True, repr=False)
class Report:
    """A page on runs that opens anywhere."""

    runs: tuple[Run, ...]
    page: str

    def save(self, path: str | Path) -> Path:
        try:
            Path(path).write_text(self.page, encoding="utf-8")
        except OSError as error:
            raise UsageError(f"{path} cannot be written: {error.strerror}") from None
        return Path(path)

    def __repr__(self) -> str:
        return f"Report on {', '.join(f'{run.id} ({run.task})' for run in self.runs)}"

    def _repr_html_(self) -> str:
        return f'<iframe srcdoc="{html.escape(self.page)}" style="width: 100%; height: 40rem; border: 0"></iframe>'


def report(runs: Sequence[str], *, archive: str | Path | None = None, on_progress: OnProgress | None = None) -> Report:
    """Write runs, named by their ids or the beginnings of those, as one page."""
    from warpwright.archive.opening import open_archive

    if isinstance(runs, str):
        runs = [runs]
    with open_archive(archive, to_read=True) as opened:
        found = tuple(opened.run(name) for name in runs)
        Reporter(on_progress).doing("reading")
        chapters = [_chapter(opened, run) for run in found]
    return Report(runs=found, page=page("Warpwright report", chapters))


def _chapter(archive: Archive, run: Run) -> Chapter:
    """Import what needs torch only for runs that exist."""
    from warpwright.app.searches.chapters import chapter
    from warpwright.search.wiring import settings_of, task_of

    settings = settings_of(run)
    return chapter(archive, task_of(settings), fold(run, archive.log(run.id)), settings.flags.gpu)


def kernel(candidate: str, archive: str | Path | None = None) -> Candidate:
    """A kernel that a search proposed, by its id."""
    from warpwright.archive.opening import open_archive

    with open_archive(archive, to_read=True) as opened:
        return opened.candidate(candidate)


def runs(archive: str | Path | None = None) -> list[Snapshot]:
    """Every run of an archive, oldest first."""
    from warpwright.archive.opening import open_archive

    with open_archive(archive, to_read=True) as opened:
        return [fold(run, opened.log(run.id)) for run in opened.runs()]


def history(run: str, archive: str | Path | None = None) -> Snapshot:
    """Every decision of a run and what became of each proposal."""
    from warpwright.archive.opening import open_archive

    with open_archive(archive, to_read=True) as opened:
        found = opened.run(run)
        return fold(found, opened.log(found.id))
