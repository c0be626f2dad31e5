"""Checks a text without a compiler: whether it is a complete source of a torch extension."""

from __future__ import annotations

import re
from collections.abc import Iterator

from warpwright.cpp.tokens import Code, Kind, tokenize

_BINDS = frozenset(
    {"PYBIND11_MODULE", "TORCH_LIBRARY", "TORCH_LIBRARY_FRAGMENT", "TORCH_LIBRARY_IMPL", "STABLE_TORCH_LIBRARY"}
)
_BINDS_IN_ANSWERS = frozenset({"PYBIND11_MODULE", "TORCH_LIBRARY", "TORCH_LIBRARY_FRAGMENT"})
"""The macros that one whole file can do with: the others only add to what another file binds."""
_PYTHON = re.compile(r"^(import torch|from torch|import triton)\b", re.MULTILINE)


def problem(source: str) -> str | None:
    """The reason why a text is not a source, as one sentence."""
    tokens = tokenize(source)
    words = {token.text for token in tokens if token.kind is Kind.WORD}
    directives = " ".join(token.text for token in tokens if token.kind is Kind.DIRECTIVE)
    if words.isdisjoint(_BINDS) and not any(word in directives for word in _BINDS):
        found = "it is Python; a candidate is one .cu file" if is_python(source) else "PYBIND11_MODULE is missing"
        return f"the source exports no entry point: {found}"
    return None


def is_python(text: str) -> bool:
    return bool(_PYTHON.search(text))


def exports(text: str) -> bool:
    """Whether a binding stands in the text."""
    return any(token.kind is Kind.WORD and token.text in _BINDS_IN_ANSWERS for token in tokenize(text))


def is_whole(source: str) -> bool:
    """Whether a binding has a name in parentheses and a body that closes, as it has at the end of every whole file."""
    code = Code(tokenize(source))
    for here in range(len(code)):
        if code.is_word(here) and code.text(here) in _BINDS_IN_ANSWERS and here + 1 in code.partner:
            body = code.partner[here + 1] + 1
            if code.text(body) == "{" and body in code.partner:
                return True
    return False


def comments(source: str) -> Iterator[str]:
    tokens = (token for token in tokenize(source) if token.kind is Kind.SPACE)
    return (token.text for token in tokens if token.text.startswith(("//", "/*")))
