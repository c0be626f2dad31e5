"""Verifiers compared: a table by class of fault, what was missed and wrongly rejected, as text, data and a page."""

from __future__ import annotations

import html
from collections.abc import Sequence
from typing import Any

from warpwright.core.records.rungs import LADDER
from warpwright.report.page import document
from warpwright.verify.comparison import OURS, Answer, Share, beyond, false_rejections, missed, shares

Row = tuple[str, ...]
_MISSED, _REJECTED, _BEYOND = "faults not found", "wrongly rejected", "wrong beyond the requested sizes alone"


def tables(answers: Sequence[Answer]) -> tuple[Row, list[Row], dict[str, list[str]]]:
    """The head and the rows of the table, and the kernels to read, by heading."""
    found = shares(answers)
    names = sorted(dict.fromkeys(item.verifier for item in found), key=_order)
    rows = [_row([item for item in found if item.kind == kind], names) for kind in _kinds(found)]
    named, others = beyond(answers)
    notes = {_MISSED: [f"{item.file} ({item.kind}): {item.why or 'holds'}" for item in missed(answers)]}
    for name, files in false_rejections(answers).items():
        if name == OURS or name not in LADDER:
            notes[f"{_REJECTED} by {name}"] = files
    notes[f"{_BEYOND}: {named} of {others} named"] = []
    return ("class", "faults", *names, "undecided", "seconds"), rows, notes


def data(answers: Sequence[Answer]) -> dict[str, Any]:
    """The same for programs."""
    named, others = beyond(answers)
    return {
        "shares": [{**_fields(item), "share": item.share} for item in shares(answers)],
        "false_rejections": false_rejections(answers),
        "missed": [item.file for item in missed(answers)],
        "beyond": {"named": named, "kernels": others},
        "answers": answers,
    }


def page(answers: Sequence[Answer]) -> str:
    head, rows, notes = tables(answers)
    table = "".join([_line("th", head), *(_line("td", row) for row in rows)])
    return document("Verifiers compared", f"<table>{table}</table>\n" + "".join(map(_section, notes.items())))


def _kinds(found: Sequence[Share]) -> list[str]:
    return list(dict.fromkeys(item.kind for item in found))


def _order(verifier: str) -> tuple[int, str]:
    """Ours first, then its rungs, then others."""
    rank = 0 if verifier == OURS else 1 + LADDER.index(verifier) if verifier in LADDER else 99
    return rank, verifier


def _row(group: Sequence[Share], names: Sequence[str]) -> Row:
    by_name = {item.verifier: item for item in group}
    ours = by_name.get(OURS)
    undecided = "" if ours is None else str(ours.undecided)
    seconds = "" if ours is None or ours.seconds is None else f"{ours.seconds:.1f}"
    shown = (_percent(by_name[name].share) if name in by_name else "" for name in names)
    return group[0].kind, str(group[0].faults), *shown, undecided, seconds


def _percent(share: float | None) -> str:
    return "" if share is None else f"{share:.1%}"


def _fields(item: Share) -> dict[str, Any]:
    return {name: getattr(item, name) for name in ("kind", "verifier", "faults", "found", "undecided", "seconds")}


def _line(tag: str, cells: Row) -> str:
    return "<tr>" + "".join(f"<{tag}>{html.escape(cell)}</{tag}>" for cell in cells) + "</tr>"


def _section(note: tuple[str, Sequence[str]]) -> str:
    name, items = note
    shown = "".join(f"<li>{html.escape(item)}</li>" for item in items)
    return f"<section><h2>{html.escape(name)}</h2><ul>{shown}</ul></section>\n"
