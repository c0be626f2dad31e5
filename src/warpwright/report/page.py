"""A self-contained page about one or more searches: the funnel, the progress, the kernel and its evidence."""

from __future__ import annotations

import html
import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field

from warpwright.core.records.evidence import Dossier, Evidence, Verdict
from warpwright.core.records.search import Basis, Fate, Member, Score, Snapshot
from warpwright.report.charts import bars, steps
from warpwright.report.funnel import best, climb_of, funnel
from warpwright.report.overview import Row, overview
from warpwright.report.scores import standing_words
from warpwright.report.source import STYLE, folded, highlighted

_STYLE = """
body { font: 16px/1.5 system-ui, sans-serif; max-width: 60rem; margin: 2rem auto; padding: 0 1rem; color: #212529; }
svg { width: 100%; max-width: 44rem; font: 13px system-ui, sans-serif; fill: #343a40; }
table { border-collapse: collapse; display: block; overflow-x: auto; }
td, th { padding: 0.2rem 0.8rem 0.2rem 0; text-align: left; vertical-align: top; }
pre { background: #f1f3f5; padding: 0.8rem; overflow-x: auto; font-size: 13px; line-height: 1.4; }
.holds { color: #2b8a3e; } .refuted { color: #c92a2a; } .undecided { color: #946200; } .note { color: #5c636a; }
details { margin: 0.6rem 0; } section { border-top: 1px solid #dee2e6; margin-top: 2rem; }
@media (prefers-color-scheme: dark) { body { background: #1a1b1e; color: #dee2e6; } svg { fill: #ced4da; }
pre { background: #25262b; } a { color: #74c0fc; }
.holds { color: #69db7c; } .refuted { color: #ff8787; } .undecided { color: #ffd43b; } }
"""
_FATES = {Fate.IMPROVED: "good", Fate.REFUTED: "bad", Fate.DUPLICATE: "faint", Fate.UNREADABLE: "faint"}


@dataclass(frozen=True, slots=True, kw_only=True)
class Chapter:
    """One search with its best kernel."""

    snapshot: Snapshot
    source: str | None = None
    dossier: Dossier | None = None
    judged: tuple[Evidence, ...] = ()
    times_us: Mapping[str, float] = field(default_factory=dict)
    limits_us: Mapping[str, float | None] = field(default_factory=dict)
    gpu: str = ""
    """The GPU that the times are of or for."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Catch:
    """A kernel with a planted bug, and the dossier that refutes it."""

    title: str
    source: str
    dossier: Dossier


def page(title: str, chapters: Sequence[Chapter], catches: Sequence[Catch] = ()) -> str:
    """Builds the page, what was caught first; all text of candidates is escaped."""
    rows = [*map(_catch_row, catches), *map(_chapter_row, chapters)]
    return document(title, "\n".join([overview(rows), *map(_catch, catches), *map(_chapter, chapters)]))


def _chapter_row(chapter: Chapter) -> Row:
    winner = best(chapter.snapshot)
    found = [*(chapter.dossier.evidence if chapter.dossier else ()), *chapter.judged]
    is_right = bool(winner and found) and all(item.verdict is Verdict.HOLDS for item in found if not item.skipped)
    verdict = Verdict.HOLDS if is_right else Verdict.UNDECIDED
    score = winner.score if winner else None
    result = score_words(score) if score else "no correct kernel" if winner is None else standing_words(winner)
    grade = "checked and timed on a GPU" if chapter.judged else "checked on a CPU" if found else "none"
    return Row(title=chapter.snapshot.run.task, verdict=verdict, result=result, evidence=grade)


def _catch_row(catch: Catch) -> Row:
    found = catch.dossier.refutation
    said = found.counterexample.message if found and found.counterexample else ""
    rung = f"refuted by the rung {found.rung}" if found else ""
    return Row(title=catch.title, verdict=catch.dossier.verdict, result=said, evidence=rung)


def document(title: str, body: str) -> str:
    """Wraps a body in a page with our style."""
    head = f'<meta charset="utf-8"><meta name="viewport" content="width=device-width"><title>{_(title)}</title>'
    return (
        f'<!doctype html>\n<html lang="en"><head>{head}<style>{_STYLE}{STYLE}</style></head>\n'
        f"<body><h1>{_(title)}</h1>\n{body}\n</body></html>\n"
    )


def _(text: object) -> str:
    return html.escape(str(text))


def _chapter(chapter: Chapter) -> str:
    snapshot = chapter.snapshot
    winner = best(snapshot)
    parts = [f'<h2 id="{_chapter_row(chapter).anchor}">{_(snapshot.run.task)}</h2>', _scene(chapter), _headline(winner)]
    parts += ["<h3>What became of the proposals</h3>"]
    parts += [_funnel(snapshot), "<h3>The way up</h3>", _way_up(snapshot, winner)]
    if chapter.times_us:
        parts += ["<h3>Times</h3>", _times(chapter, winner)]
    if chapter.dossier:
        parts += ["<h3>Evidence</h3>", _evidence((*chapter.dossier.evidence, *chapter.judged))]
    if chapter.source:
        parts.append(folded("The kernel", chapter.source))
    parts.append(_decisions(snapshot))
    return f"<section>{''.join(parts)}</section>"


def _scene(chapter: Chapter) -> str:
    """When the search was, with which version, and for which GPU."""
    run = chapter.snapshot.run
    facts = [run.started.partition("T")[0], f"Warpwright {run.warpwright}", f"run {run.id}", chapter.gpu]
    return f'<p class="note">{_(" · ".join(filter(None, facts)))}</p>'


def _headline(winner: Member | None) -> str:
    if winner is None:
        return '<p class="undecided">No correct kernel was found.</p>'
    if winner.score is None:
        return f'<p class="undecided">{_(standing_words(winner).capitalize())}.</p>'
    return f"<p><strong>{_(score_words(winner.score))}</strong></p>" + (
        f'<p class="note">{_(winner.score.profile)}</p>' if winner.score.profile else ""
    )


def score_words(score: Score) -> str:
    ratio = math.exp(score.value)
    if score.basis is Basis.PREDICTED:
        return f"{ratio:.0%} of the physical limit: predicted by a cost model, not measured."
    share = "" if score.share_of_limit is None else f", {score.share_of_limit:.0%} of the physical limit"
    return f"{ratio:.2f} times the speed of the best torch baseline, measured{share}."


def _funnel(snapshot: Snapshot) -> str:
    counted = funnel(snapshot)
    rows = [("proposed", float(counted.proposed), "", "plain")]
    for fate, count in counted.by_fate.items():
        rungs = ", ".join(f"{number} by {rung}" for rung, number in counted.refuted_by.items())
        words = f"{count} ({rungs})" if fate is Fate.REFUTED else ""
        rows.append((str(fate), float(count), words, _FATES.get(fate, "plain")))
    return bars(rows)


def _way_up(snapshot: Snapshot, winner: Member | None) -> str:
    points = [(number, math.exp(value)) for number, value in climb_of(snapshot)]
    last = max((member.brief.number for member in snapshot.members), default=0)
    predicted = winner is not None and winner.score is not None and winner.score.basis is Basis.PREDICTED
    unit = "share of the physical limit, predicted" if predicted else "speed-up against the best baseline, measured"
    return f'<p class="note">{unit}</p>' + steps(points, last, 1.0 if predicted else None)


def _times(chapter: Chapter, winner: Member | None) -> str:
    basis = winner.score.basis if winner and winner.score else Basis.PREDICTED
    rows = []
    for case, time in chapter.times_us.items():
        limit = chapter.limits_us.get(case)
        share = "" if limit is None else f"{limit:.4g}</td><td>{limit / time:.0%}"
        rows.append(f"<tr><td>{_(case)}</td><td>{time:.4g}</td><td>{share}</td></tr>")
    head = f"<tr><th>case</th><th>{basis} µs</th><th>limit µs</th><th>share</th></tr>"
    return f"<table>{head}{''.join(rows)}</table>"


def _evidence(found: Sequence[Evidence]) -> str:
    rows = "".join(
        f'<tr><td>{_(item.rung)}</td><td class="{item.verdict}">{item.verdict}</td>'
        f"<td>{_cases(item)}</td><td>{'' if item.seconds is None else f'{item.seconds:.2g} s'}</td>"
        f"<td>{_(item.reason or (item.counterexample.message if item.counterexample else ''))}</td></tr>"
        for item in found
    )
    return f"<table><tr><th>rung</th><th>verdict</th><th>cases</th><th>time</th><th></th></tr>{rows}</table>"


def _cases(evidence: Evidence) -> str:
    """How many cases and runs the evidence covers; the names of the cases show on hovering."""
    names, runs = evidence.facts.get("cases"), evidence.facts.get("runs")
    if not isinstance(names, list | tuple) or not names:
        return ""
    drawn = f", {_(runs)} runs" if runs else ""
    return f'<span title="{_(", ".join(map(str, names)))}">{len(names)}{drawn}</span>'


def _decisions(snapshot: Snapshot) -> str:
    rows = "".join(f"<li>{_(item.action)}: {_(item.reason)}</li>" for item in snapshot.decisions)
    return f"<details><summary>{len(snapshot.decisions)} decisions</summary><ol>{rows}</ol></details>"


def _catch(catch: Catch) -> str:
    found = catch.dossier.refutation
    verdict = catch.dossier.verdict
    shown = found.counterexample if found else None
    said = f'<p class="{verdict}">{verdict}: {_(shown.message if shown else "")}</p>'
    line = shown.line if shown and shown.line else None
    title = f'<h2 id="{_catch_row(catch).anchor}">{_(catch.title)}</h2>'
    return f"<section>{title}{said}<pre>{highlighted(catch.source, line)}</pre></section>"
