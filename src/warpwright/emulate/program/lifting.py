"""Rewrites preprocessed CUDA text to compute in lifted numbers: floats become Real, which the runtime implements."""

from __future__ import annotations

import re

from warpwright.cpp.editing import Editing
from warpwright.cpp.tokens import Kind, Token

_REAL = "::warpwright::lifted::Real"
_VECTOR = re.compile(r"(make_)?(?:float|double)([1-4])")
_LITERAL = re.compile(r"(?:\d+\.\d*|\.\d+|\d+(?=[eE]))(?:[eE][+-]?\d+)?[fF]?")
LIFTED = "-DWARPWRIGHT_LIFTED"


def lift(preprocessed: str) -> str:
    """Returns the text with every floating-point type and literal replaced; lines keep their numbers."""
    lifting = Editing(preprocessed)
    for position in range(len(lifting.code)):
        lifted = _lifted(lifting.code.tokens[lifting.code.where[position]])
        if lifted is not None:
            lifting.put(position, lifted)
    return lifting.text()


def _lifted(token: Token) -> str | None:
    if token.kind is Kind.NUMBER and _LITERAL.fullmatch(token.text):
        return f"{_REAL}({token.text})"
    if token.kind is not Kind.WORD:
        return None
    if token.text in ("float", "double"):
        return _REAL
    vector = _VECTOR.fullmatch(token.text)
    return f"::warpwright::lifted::{'make_real' if vector[1] else 'Real'}{vector[2]}" if vector else None
