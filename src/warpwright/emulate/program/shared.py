"""Parses declarations of shared memory: their extent and the names that they declare."""

from __future__ import annotations

from dataclasses import dataclass

from warpwright.cpp.tokens import Code
from warpwright.seal.refusal import undecided

_DROPPED = frozenset({"static", "extern", "__shared__"})


@dataclass(frozen=True, slots=True, kw_only=True)
class Declaration:
    """Positions in a Code. `dropped` are storage keywords that are not allowed in a member of a struct."""

    start: int
    end: int
    """The position of its `;`."""
    dropped: tuple[int, ...]
    names: tuple[str, ...]
    dynamic: bool
    extent: int
    """The position of the `[` of a dynamic array."""

    @property
    def kind(self) -> str:
        return f"warpwright_shared_{self.start}"

    @property
    def opening(self) -> str:
        """The statement that declares the name of a dynamic array."""
        name = self.names[0]
        memory = f"::warpwright::dynamic_shared(alignof({self.kind}))"
        return f"auto* {name} = static_cast<{self.kind}*>({memory})->{name};"


def declaration_at(code: Code, word: int) -> Declaration:
    """The declaration of the `__shared__` at this position."""
    start = word
    while code.text(start - 1) not in (";", "{", "}", ""):
        start -= 1
    pieces = _declarators(code, word + 1)
    end = pieces[-1][1]
    if code.text(end) != ";":
        raise undecided("unsupported: a __shared__ declaration of an unusual form")
    named = [_name(code, *piece) for piece in pieces]
    dynamic = any(code.text(i) == "extern" for i in range(start, word + 2)) and code.text(named[0] + 2) == "]"
    return Declaration(
        start=start,
        end=end,
        dropped=tuple(i for i in range(start, end) if code.text(i) in _DROPPED),
        names=tuple(code.text(name) for name in named),
        dynamic=dynamic,
        extent=named[0] + 1,
    )


def _declarators(code: Code, here: int) -> list[tuple[int, int]]:
    """The pieces between commas, up to the `;`. The first piece also contains the type."""
    pieces, start = [], here
    while here < len(code) and code.text(here) not in (";", "}"):
        if code.text(here) == ",":
            pieces.append((start, here))
            start = here + 1
        if code.text(here) in ("(", "[", "{") and here in code.partner:
            here = code.partner[here] + 1
        elif code.text(here) == "<":
            here = code.past_angles(here) or here + 1
        else:
            here += 1
    return [*pieces, (start, here)]


def _name(code: Code, begin: int, end: int) -> int:
    """The last word before the extents."""
    last = end - 1
    while code.text(last) == "]" and last in code.partner:
        last = code.partner[last] - 1
    if last < begin or not code.is_word(last):
        raise undecided("unsupported: a __shared__ declaration of an unusual form")
    return last
