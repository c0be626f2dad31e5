"""What can be told of a Python text without running it."""

from __future__ import annotations

import ast
import io
import tokenize
import warnings
from collections.abc import Iterator


def parsed(source: str) -> ast.Module | None:
    """The syntax tree; None if the text is not Python."""
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            return ast.parse(source)
    except (SyntaxError, ValueError, RecursionError, MemoryError):
        return None


def is_whole(source: str) -> bool:
    """Whether the text can be parsed: one that breaks off in the middle cannot."""
    return parsed(source) is not None


def comments(source: str) -> Iterator[str]:
    """The comments of a text, as far as it can be read."""
    try:
        for token in tokenize.generate_tokens(io.StringIO(source).readline):
            if token.type == tokenize.COMMENT:
                yield token.string
    except (tokenize.TokenError, SyntaxError, ValueError):
        return


def normal(source: str) -> str:
    """The text without comments, white space and documentation; as it stands if it cannot be parsed."""
    tree = parsed(source)
    return source if tree is None else ast.unparse(tree)
