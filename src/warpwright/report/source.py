"""A kernel's source on a page: folded, with comments, directives and literals set apart, and a copy button."""

from __future__ import annotations

import html

from warpwright.cpp.tokens import Kind, Token, tokenize

STYLE = """
.comment { color: #5c636a; font-style: italic; } .directive { color: #862e9c; } .literal { color: #0b7285; }
details button { float: right; font: inherit; font-size: 13px; cursor: pointer; }
@media (prefers-color-scheme: dark) { .comment { color: #adb5bd; } .directive { color: #da77f2; }
.literal { color: #66d9e8; } }
"""
_COPY = "navigator.clipboard.writeText(this.parentNode.querySelector('pre').textContent)"
_CLASSES = {Kind.DIRECTIVE: "directive", Kind.NUMBER: "literal", Kind.STRING: "literal"}


def folded(title: str, source: str) -> str:
    """The source behind its title."""
    button = f'<button type="button" onclick="{_COPY}">copy</button>'
    summary = f"<summary>{html.escape(title)}, {len(source.splitlines())} lines</summary>"
    return f"<details>{summary}{button}<pre>{highlighted(source)}</pre></details>"


def highlighted(source: str, marked: int | None = None) -> str:
    """The source with a class for each kind of token; the line `marked` stands out. All text is escaped."""
    text = "".join(_span(token) for token in tokenize(source))
    lines = text.split("\n")
    if marked is not None and 0 < marked <= len(lines):
        lines[marked - 1] = f"<mark>{lines[marked - 1]}</mark>"
    return "\n".join(lines)


def _span(token: Token) -> str:
    """One span for each line of a token, so that no span crosses the end of a line."""
    name = "comment" if token.kind is Kind.SPACE and token.text.strip() else _CLASSES.get(token.kind)
    text = html.escape(token.text)
    if name is None:
        return text
    return "\n".join(f'<span class="{name}">{line}</span>' if line.strip() else line for line in text.split("\n"))
