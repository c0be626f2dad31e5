"""Rewrites preprocessed CUDA text to compute in lifted numbers: floats become Real, which the runtime implements."""

from __future__ import annotations

import re

from warpwright.cpp.editing import Editing
from warpwright.cpp.tokens import Kind, Token

_LIFTED = "::warpwright::lifted"
_TYPES = {"float": "Real", "double": "Wide"}
_VECTOR = re.compile(r"(make_)?(float|double)([1-4])")
_LITERAL = re.compile(r"((?:\d+\.\d*|\.\d+|\d+(?=[eE]))(?:[eE][+-]?\d+)?)[fF]?")
LIFTED = "-DWARPWRIGHT_LIFTED"


def lift(preprocessed: str) -> str:
    """Returns the text with every floating-point type and literal replaced; lines keep their numbers."""
    lifting = Editing(preprocessed)
    constants: dict[str, None] = {}
    for position in range(len(lifting.code)):
        token = lifting.code.tokens[lifting.code.where[position]]
        literal = _LITERAL.fullmatch(token.text) if token.kind is Kind.NUMBER else None
        if literal is not None:
            constants[literal[1]] = None
        lifted = f"{_LIFTED}::Real({literal[1]})" if literal else _lifted(token)
        if lifted is not None:
            lifting.put(position, lifted)
    entered = f"{_LIFTED}::enter_constants({{{', '.join(constants)}}})"
    return f"{lifting.text()}\nstatic bool warpwright_constants = {entered};\n"


def _lifted(token: Token) -> str | None:
    if token.kind is not Kind.WORD:
        return None
    if token.text in _TYPES:
        return f"{_LIFTED}::{_TYPES[token.text]}"
    vector = _VECTOR.fullmatch(token.text)
    if vector is None:
        return None
    made, kind, width = vector.groups()
    name = _TYPES[kind]
    return f"{_LIFTED}::make_{name.lower()}{width}" if made else f"{_LIFTED}::{name}{width}"
