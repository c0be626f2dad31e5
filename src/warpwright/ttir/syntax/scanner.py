"""Scanner: takes words off a text, and keeps track of the place for messages."""

from __future__ import annotations

import re

from warpwright.core.errors import Undecided
from warpwright.ttir.syntax.types import Type, parse_type

_SPACE = re.compile(r"(?:[ \t]+|//[^\n]*)+")
_BLANK = re.compile(r"(?:\s+|//[^\n]*)+")
_OPENING, _CLOSING = "<([{", ">)]}"
_STRING = re.compile(r'"(?:[^"\\]|\\.)*"')

VALUE = re.compile(r"%[\w$.\-]+(?:#\d+)?")
WORD = re.compile(r"[A-Za-z_][\w.$]*")
SYMBOL = re.compile(r'@(?:[\w.$\-]+|"(?:[^"\\]|\\.)*")')
STRING = _STRING
LABEL = re.compile(r"\^[\w$.\-]+")


class Scanner:
    def __init__(self, text: str) -> None:
        self.text, self.at = text, 0

    def skip(self) -> None:
        """Skip spaces within a line."""
        match = _SPACE.match(self.text, self.at)
        self.at = match.end() if match else self.at

    def skip_lines(self) -> None:
        match = _BLANK.match(self.text, self.at)
        self.at = match.end() if match else self.at

    def at_line_end(self) -> bool:
        self.skip()
        return self.at >= len(self.text) or self.text[self.at] == "\n"

    def sees(self, word: str) -> bool:
        self.skip()
        return self.text.startswith(word, self.at)

    def accept(self, word: str) -> bool:
        if not self.sees(word):
            return False
        self.at += len(word)
        return True

    def expect(self, word: str) -> None:
        if not self.accept(word):
            raise self.confused(f"{word!r} expected")

    def match(self, pattern: re.Pattern[str]) -> str | None:
        self.skip()
        match = pattern.match(self.text, self.at)
        if match is None:
            return None
        self.at = match.end()
        return match[0]

    def take(self, pattern: re.Pattern[str], what: str) -> str:
        found = self.match(pattern)
        if found is None:
            raise self.confused(f"{what} expected")
        return found

    def balanced(self, stops: str) -> str:
        """The text up to one of the characters `stops` outside of brackets and strings, or the end of the line."""
        start, depth = self.at, 0
        while self.at < len(self.text):
            character = self.text[self.at]
            if character == '"':
                self.take(_STRING, "the end of a string")
                continue
            if self.text.startswith("->", self.at):
                if depth == 0 and "-" in stops:
                    break
                self.at += 2
                continue
            if depth == 0 and (character in stops or character == "\n"):
                break
            depth += (character in _OPENING) - (character in _CLOSING)
            if depth < 0:
                break
            self.at += 1
        return self.text[start : self.at].strip()

    def type(self) -> Type:
        """One type: it ends at a space, a comma or a closing bracket outside of its own."""
        self.skip()
        text = self.balanced(" ,:=-*")
        try:
            return parse_type(text)
        except ValueError:
            raise self.confused(f"unknown type {text[:40]!r}") from None

    def confused(self, why: str) -> Undecided:
        """No program is judged by a text that was not understood."""
        number = self.text.count("\n", 0, self.at) + 1
        seen = self.text[self.at : self.at + 40].split("\n")[0]
        return Undecided(f"unsupported: line {number} of the IR: {why} at {seen!r}")
