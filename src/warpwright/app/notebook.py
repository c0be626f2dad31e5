"""Results in a notebook: HTML in which everything that a candidate could have written is escaped."""

from __future__ import annotations

import html
from collections.abc import Iterable, Sequence


def preformatted(result: object) -> str:
    """The text form of a result."""
    return f"<pre>{html.escape(repr(result))}</pre>"


def table(columns: Sequence[str], rows: Iterable[Sequence[object]]) -> str:
    """A table with a row of headings."""
    head = "".join(f"<th>{html.escape(column)}</th>" for column in columns)
    body = "".join(f"<tr>{''.join(f'<td>{html.escape(str(cell))}</td>' for cell in row)}</tr>" for row in rows)
    return f"<table><tr>{head}</tr>{body}</table>"


def paragraph(text: str) -> str:
    return f"<p>{html.escape(text)}</p>"
