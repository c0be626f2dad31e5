"""The head of a page: one row for each of its parts with verdict, best result and grade of evidence, each a link."""

from __future__ import annotations

import html
from collections.abc import Sequence
from dataclasses import dataclass


@dataclass(frozen=True, slots=True, kw_only=True)
class Row:
    """One part of a page in a few words."""

    title: str
    verdict: str
    result: str
    evidence: str

    @property
    def anchor(self) -> str:
        return "".join(letter if letter.isalnum() else "-" for letter in self.title.lower())


def overview(rows: Sequence[Row]) -> str:
    """The table of contents and results; nothing for a page with a single part without any."""
    if not rows:
        return ""
    head = "<tr><th>what</th><th>verdict</th><th>result</th><th>evidence</th></tr>"
    return f"<table>{head}{''.join(map(_row, rows))}</table>"


def _row(row: Row) -> str:
    cells = "".join(f"<td>{html.escape(text)}</td>" for text in (row.result, row.evidence))
    link = f'<a href="#{row.anchor}">{html.escape(row.title)}</a>'
    return f'<tr><td>{link}</td><td class="{html.escape(row.verdict)}">{html.escape(row.verdict)}</td>{cells}</tr>'
