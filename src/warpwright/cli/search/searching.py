"""A search from the command line: what it may cost, how it goes, what came of it, and how to go on."""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import replace
from pathlib import Path
from typing import Any

import typer

from warpwright.archive.opening import open_archive
from warpwright.archive.store import Archive
from warpwright.cli.output import emit
from warpwright.cli.screen import faint, good, plain, screen, show_table
from warpwright.cli.search.live import watching
from warpwright.core.candidate import Candidate
from warpwright.core.codec import encode
from warpwright.core.errors import Exit, Undecided
from warpwright.core.records.search import Member, Run, Snapshot
from warpwright.dispatch.evaluating import BundleSent
from warpwright.propose.tuning.ranking import Entrant, entrants
from warpwright.report.funnel import best, funnel
from warpwright.report.scores import in_words, spent_words
from warpwright.search.run import write_whole
from warpwright.search.settings import Settings
from warpwright.search.tuner import Tuned
from warpwright.search.wiring import begin, ceiling, search_run, settings_of, tuner

INTERRUPTED = 130


def search(settings: Settings, place: str | None, *, seed: int | None = None, as_json: bool = False) -> None:
    """A new run, to its end."""
    with open_archive(place) as archive:
        run = begin(archive, settings, seed)
        if not as_json:
            screen().print(f"Run {run.id} for {plain(run.task)}; the best kernel so far is kept in {settings.output}")
            screen().print(faint(most(settings)))
        _sit(archive, run, place, as_json)


def resume_run(
    name: str,
    place: str | None,
    *,
    budget: float | None,
    minutes: float | None,
    generations: int | None,
    asking: Mapping[str, Any],
    as_json: bool,
) -> None:
    """Exactly where it was; limits, and how models are asked, replace those of the run where they are given anew."""
    with open_archive(place, to_read=True) as archive:
        run = archive.run(name)
        _sit(archive, _extended(run, budget, minutes, generations, asking), place, as_json)


def _extended(
    run: Run, budget: float | None, minutes: float | None, generations: int | None, asking: Mapping[str, Any]
) -> Run:
    settings = settings_of(run)
    limits = settings.policy.budget
    if budget is not None:
        limits = replace(limits, usd=budget)
    if minutes is not None:
        limits = replace(limits, wall_seconds=minutes * 60)
    policy = replace(settings.policy, budget=limits)
    if generations is not None:
        policy = replace(policy, generations=generations)
    given = {name: value for name, value in asking.items() if value is not None}
    return replace(run, settings=encode(replace(settings, policy=policy, **given)))


def most(settings: Settings) -> str:
    """What a run can take at most, before anything is spent."""
    policy = settings.policy
    asked = policy.attempts + policy.generations * (policy.proposals + policy.repairs)
    if not policy.arms:
        return f"At most {asked} composed kernels; nothing is paid for." + _minutes(settings)
    known = [ceiling(arm).usd for arm in policy.arms]
    dearest = None if None in known else max(usd for usd in known if usd is not None)
    words = [f"At most {asked} proposals"]
    if policy.budget.usd is not None:
        words.append(f"${policy.budget.usd:.2f}, which is never passed")
    elif dearest is not None:
        words.append(f"${dearest * asked:.2f} if every answer is as long as it can be")
    else:
        words.append("an unknown sum: the price of a model is not known")
    return ", ".join(words) + "." + _minutes(settings)


def _minutes(settings: Settings) -> str:
    seconds = settings.policy.budget.wall_seconds
    return "" if seconds is None else f" At most {seconds / 60:g} minutes."


def _sit(archive: Archive, run: Run, place: str | None, as_json: bool) -> None:
    again = f"warpwright optimize --resume {run.id}" + (f" --archive {place}" if place else "")
    try:
        with watching(settings_of(run), silent=as_json) as watcher:
            snapshot = search_run(archive, run, watcher).drive()
    except KeyboardInterrupt:
        typer.echo(f"\nStopped; nothing is lost. Go on with: {again}", err=True)
        raise typer.Exit(INTERRUPTED) from None
    except BundleSent as sent:
        if as_json:
            emit("optimize/1", run=run.id, away=str(sent.folder), jobs=sent.jobs, resume=again)
        else:
            screen().print(f"{plain(sent)}: {again}", soft_wrap=True)
        raise typer.Exit(Exit.UNDECIDED) from None
    _tell(archive, run, snapshot, again, as_json)


def _tell(archive: Archive, run: Run, snapshot: Snapshot, again: str, as_json: bool) -> None:
    winner = best(snapshot)
    settings = settings_of(run)
    if as_json:
        emit(
            "optimize/1",
            run=run.id,
            task=run.task,
            best=winner,
            output=settings.output if winner else None,
            funnel=funnel(snapshot),
            spent=snapshot.spent,
            stopped=snapshot.decisions[-1].reason,
            resume=again,
        )
    else:
        _show(snapshot, winner, settings)
    if winner is None:
        raise Undecided(f"no kernel was found that is right and could be scored; more tries: {again}")


def _show(snapshot: Snapshot, winner: Member | None, settings: Settings) -> None:
    screen().print(plain(snapshot.decisions[-1].reason))
    counted = funnel(snapshot)
    fates = ", ".join(f"{count} {fate}" for fate, count in counted.by_fate.items())
    screen().print(f"{counted.proposed} proposals: {fates or 'none'}.")
    if winner is not None and winner.score is not None:
        screen().print(good(f"Best: {in_words(winner.score)}") + f", in {plain(settings.output)}")
        if winner.score.profile:
            screen().print(faint(winner.score.profile))
    screen().print(f"Spent: {spent_words(snapshot.spent)}.")


def tune_kernel(settings: Settings, place: str | None, *, most: int, merge: bool, as_json: bool) -> None:
    """The settings of one kernel, tried; the best of them, or its winners by shape merged, in a file."""
    with open_archive(place) as archive, watching(settings, silent=as_json) as watcher:
        worker, kernel = tuner(archive, settings, watcher)
        done = worker.tune(entrants(kernel, most), merge=merge)
    if done.best is not None:
        write_whole(Path(settings.output), done.best.source.encode("utf-8", errors="surrogateescape"))
    if as_json:
        best = done.best.id if done.best else None
        rows = [
            {"candidate": item.candidate.id, "settings": item.settings, **_outcome(done, item)} for item in done.tried
        ]
        emit("tune/1", run=worker.run.id, basis=done.basis, best=best, merged=done.merged and done.merged.id,
             refusal=done.refusal, output=settings.output if best else None, settings=rows)  # fmt: skip
    else:
        _show_tuned(done, settings.output)
    if done.best is None:
        raise Undecided(
            "no setting was found right and could be scored; `warpwright check` says what is wrong with one"
        )


def _outcome(done: Tuned, item: Entrant) -> dict[str, Any]:
    dossier, score = done.dossiers.get(item.candidate.id), done.scores.get(item.candidate.id)
    return {"verdict": dossier.verdict if dossier else None, "score": score}


def _show_tuned(done: Tuned, output: str) -> None:
    value = {id_: score.value for id_, score in done.scores.items()}
    order = sorted(done.tried, key=lambda item: -value.get(item.candidate.id, -math.inf))
    show_table(("setting", "verdict", "standing"), [_setting_row(done, item) for item in order])
    if done.refusal:
        screen().print(f"Nothing was merged: {plain(done.refusal)}.")
    if done.best is not None:
        what = "the winners by shape, merged" if done.best is done.merged else _in_words(_of(done, done.best))
        screen().print(good(f"Best: {what}, {in_words(done.scores[done.best.id])}") + f", in {plain(output)}")


def _of(done: Tuned, candidate: Candidate) -> Entrant:
    return next(item for item in done.tried if item.candidate == candidate)


def _in_words(item: Entrant) -> str:
    return ", ".join(f"{name} = {value}" for name, value in item.settings.items())


def _setting_row(done: Tuned, item: Entrant) -> list[str]:
    found = _outcome(done, item)
    mark = " (as given)" if item is done.tried[0] else ""
    standing = in_words(found["score"]) if found["score"] else ""
    return [plain(_in_words(item) + mark), plain(found["verdict"] or "not known: our fault"), plain(standing)]
