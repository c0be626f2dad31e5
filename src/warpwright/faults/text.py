"""Edits of CUDA source: replacements of tokens, and the queries by which the places for them are found."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import cached_property

from warpwright.cpp.declarations import function_at
from warpwright.cpp.tokens import Code, Token

_UNREACHED = "the code is never reached"
_SAME_TEST = "the two conditions never differ"
ENDS_STATEMENT = (";", "{", "}", ")")


@dataclass(frozen=True, slots=True, kw_only=True)
class Witness:
    """Another replacement of tokens, and what it proves if it changes nothing."""

    begin: int
    end: int
    text: str
    proves: str


@dataclass(frozen=True, slots=True, kw_only=True)
class Edit:
    """A replacement of the tokens from position `begin` to `end`."""

    begin: int
    end: int
    text: str
    witness: Witness | None = None
    certain: str | None = None
    """Why the edit gives a wrong result for certain, where that follows from its construction."""


def unreached(text: Text, begin: int, end: int) -> Witness:
    """Builds a witness that traps when an expression or expression statement is evaluated."""
    return Witness(begin=begin, end=end, text=f"(__trap(), {text.written(begin, end)})", proves=_UNREACHED)


def same_test(text: Text, begin: int, end: int, other: str) -> Witness:
    was = text.written(begin, end)
    return Witness(
        begin=begin,
        end=end,
        text=f"(bool({was}) == bool({other}) ? bool({was}) : (__trap(), false))",
        proves=_SAME_TEST,
    )


class Text(Code):
    """The tokens of a source, with the queries that mutations need."""

    def __init__(self, tokens: Sequence[Token]) -> None:
        super().__init__(tokens)

    def written(self, begin: int, end: int) -> str:
        if begin >= end:
            return ""
        return "".join(token.text for token in self.tokens[self.where[begin] : self.where[end - 1] + 1])

    def texts(self, begin: int, count: int) -> list[str]:
        return [self.text(begin + step) for step in range(count)]

    @cached_property
    def device(self) -> list[int]:
        """Positions inside the bodies of kernels and device functions."""
        inside: set[int] = set()
        for position in range(len(self)):
            if self.text(position) in ("__global__", "__device__") and (function := function_at(self, position)):
                body = function.body
                inside |= set(range(body, self.partner[body])) if body is not None else set()
        return sorted(inside)

    @cached_property
    def host(self) -> list[int]:
        device = set(self.device)
        return [position for position in range(len(self)) if position not in device]

    def past_statement(self, here: int) -> int:
        """Returns the position of the `;` that ends the statement."""
        while here < len(self) and self.text(here) not in (";", "{", "}"):
            here = self.partner[here] + 1 if self.text(here) in ("(", "[") and here in self.partner else here + 1
        return here

    def split(self, begin: int, end: int, at: str) -> list[tuple[int, int]]:
        """Splits at `at`, outside of all brackets."""
        pieces, start, here = [], begin, begin
        while here < end:
            if self.text(here) == at:
                pieces.append((start, here))
                start = here + 1
            opens = self.text(here) in ("(", "[", "{") and here in self.partner
            here = self.partner[here] + 1 if opens else here + 1
        return [*pieces, (start, end)]

    def opening(self, position: int) -> int:
        """Returns the position of the innermost `(` around a position."""
        here = position - 1
        while self.text(here) != "(":
            here = self.partner.get(here, here) - 1 if self.text(here) in (")", "]", "}") else here - 1
        return here

    def conditions(self) -> Iterator[tuple[str, int, int]]:
        """Yields the conditions of `if`, `while` and `for` in device code."""
        for here in self.device:
            word, opening = self.text(here), here + 1
            if word not in ("if", "while", "for") or self.text(opening) != "(" or opening not in self.partner:
                continue
            parts = self.split(opening + 1, self.partner[opening], ";")
            if word != "for":
                yield word, opening + 1, self.partner[opening]
            elif len(parts) == 3:
                yield word, *parts[1]

    def assignments(self) -> Iterator[tuple[int, int]]:
        """Yields the right sides of assignments to floating variables and to elements, in device code."""
        for here in self.device:
            end = self.past_statement(here)
            if self.text(here) != "=" or self.text(end) not in (";", ",") or end <= here + 1:
                continue
            before = here - 1
            is_element = self.text(before) == "]" and not self._is_type(self.partner.get(before, before) - 2)
            if is_element or (self.is_word(before) and self.text(before - 1) == "float"):
                yield here + 1, end

    def _is_type(self, position: int) -> bool:
        return self.text(position) in ("int", "float", "double", "bool", "unsigned", "char")

    def comparisons(self, begin: int, end: int) -> Iterator[int]:
        """Yields the position of each `<` that is a comparison."""
        for here in range(begin, end):
            if self.text(here) == "<" and (self.past_angles(here) or end + 1) > end:
                yield here
