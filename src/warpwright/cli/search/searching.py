"""Prints a search: its possible cost, its progress, its result, and how to resume it."""

from __future__ import annotations

import math

import typer

from warpwright.app.searches.costs import most
from warpwright.app.searches.optimize import Search, Searched
from warpwright.app.searches.tune import TuneResult, in_words_of
from warpwright.cli.output import emit
from warpwright.cli.screen import faint, good, plain, screen, show_table
from warpwright.cli.search.live import watching
from warpwright.core.errors import Exit, Undecided
from warpwright.dispatch.evaluating import BundleSent
from warpwright.propose.tuning.ranking import Entrant
from warpwright.report.funnel import funnel
from warpwright.report.scores import in_words, spent_words, standing_words

INTERRUPTED = 130


def announce(search: Search) -> None:
    """Prints the run's name, the file of its best kernel, and its limits."""
    kept = f"; the best kernel so far is kept in {search.settings.output}"
    screen().print(f"Run {search.run.id} for {plain(search.run.task)}{kept}")
    screen().print(faint(most(search.settings)))


def drive(search: Search, as_json: bool) -> None:
    """Runs a search until it ends, waits for another machine, or the user stops it."""
    try:
        with watching(search.settings, silent=as_json) as told:
            found = search.drive(told)
    except KeyboardInterrupt:
        typer.echo(f"\nStopped; nothing is lost. Go on with: {search.resume}", err=True)
        raise typer.Exit(INTERRUPTED) from None
    except BundleSent as sent:
        if as_json:
            emit("optimize/1", run=search.run.id, away=str(sent.folder), jobs=sent.jobs, resume=search.resume)
        else:
            screen().print(f"{plain(sent)}: {search.resume}", soft_wrap=True)
        raise typer.Exit(Exit.UNDECIDED) from None
    if as_json:
        emit("optimize/1", **found.document())
    else:
        _show(found)
    if found.best is None:
        raise Undecided(f"no correct kernel was found; more tries: {search.resume}")


def _show(found: Searched) -> None:
    screen().print(plain(found.reason))
    counted = funnel(found.snapshot)
    fates = ", ".join(f"{count} {fate}" for fate, count in counted.by_fate.items())
    screen().print(f"{counted.proposed} proposals: {fates or 'none'}.")
    if found.best is not None:
        screen().print(good(f"Best: {plain(standing_words(found.best))}") + f"; in {plain(found.output)}")
        if found.best.score and found.best.score.profile:
            screen().print(faint(found.best.score.profile))
    screen().print(f"Spent: {spent_words(found.snapshot.spent)}.")


def show_tuned(found: TuneResult, output: str) -> None:
    """Prints every setting, the best first."""
    value = {id_: score.value for id_, score in found.tuned.scores.items()}
    order = sorted(found.tuned.tried, key=lambda item: -value.get(item.candidate.id, -math.inf))
    show_table(("setting", "verdict", "standing"), [_setting_row(found, item) for item in order])
    if found.tuned.refusal:
        screen().print(f"Nothing was merged: {plain(found.tuned.refusal)}.")
    if found.best is not None:
        screen().print(good(found.sentence) + f", in {plain(output)}")


def _setting_row(found: TuneResult, item: Entrant) -> list[str]:
    mark = " (as given)" if item is found.tuned.tried[0] else ""
    score = found.score(item)
    verdict = found.verdict(item) or "not known: our fault"
    return [plain(in_words_of(item) + mark), plain(verdict), plain(in_words(score) if score else "")]
