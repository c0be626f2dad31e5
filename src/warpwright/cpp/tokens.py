"""A lossless tokeniser of C++: the tokens joined are the text again.

Raw strings, strings and comments are one token each, however much they look like code. A `>` is always a single token,
because only its context distinguishes a closed template from a shift or the end of a launch.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass
from enum import Enum, auto


class Kind(Enum):
    SPACE = auto()
    """White space and comments."""
    DIRECTIVE = auto()
    """A whole preprocessor line; after preprocessing, line markers and pragmas."""
    WORD = auto()
    NUMBER = auto()
    STRING = auto()
    PUNCTUATION = auto()


@dataclass(frozen=True, slots=True)
class Token:
    kind: Kind
    text: str


_PATTERN = re.compile(
    r"""
      (?P<DIRECTIVE>  ^[ \t]*\#(?:[^\\\n]|\\.|\\\n)* )
    | (?P<SPACE>      [^\S\n]+ | \n+ | //(?:[^\\\n]|\\.|\\\n)* | /\*.*?(?:\*/|\Z) )
    | (?P<STRING>     (?:u8|[uUL])? (?: R"(?P<delimiter>[^()\\\s]{0,16})\(.*?(?:\)(?P=delimiter)"|\Z)
                                      | "(?:[^"\\\n]|\\.|\\\n)*(?:"|(?=\n)|\Z)
                                      | '(?:[^'\\\n]|\\.|\\\n)*(?:'|(?=\n)|\Z) ) )
    | (?P<WORD>       [^\W\d][\w$]* )
    | (?P<NUMBER>     \.?\d (?: [eEpP][+-] | '[0-9a-zA-Z_] | [\w.] )* )
    | (?P<PUNCTUATION> <<< | <=> | ->\*? | :: | \.\.\. | [<=!]= | && | \|\| | << | . )
    """,
    re.VERBOSE | re.DOTALL | re.MULTILINE,
)


def tokenize(text: str) -> list[Token]:
    """Tokenises any text; characters that are not C++ become punctuation."""
    return [Token(Kind[_group(match)], match.group()) for match in _PATTERN.finditer(text)]


def _group(match: re.Match[str]) -> str:
    name = match.lastgroup
    return "STRING" if name is None or name == "delimiter" else name


_FARTHEST = 2048
"""Tokens searched for one bracket, so that hostile text cannot make the search quadratic."""
_CLOSES = {"(": ")", "[": "]", "{": "}"}


class Code:
    """The significant tokens of a text by position, with matching brackets paired."""

    def __init__(self, tokens: Sequence[Token]) -> None:
        self.tokens = tokens
        self.where = [i for i, token in enumerate(tokens) if token.kind not in (Kind.SPACE, Kind.DIRECTIVE)]
        self.partner = self._pair()

    def __len__(self) -> int:
        return len(self.where)

    def text(self, position: int) -> str:
        """The text of a token, or "" beyond either end."""
        return self.tokens[self.where[position]].text if 0 <= position < len(self.where) else ""

    def is_word(self, position: int) -> bool:
        return 0 <= position < len(self.where) and self.tokens[self.where[position]].kind is Kind.WORD

    def _pair(self) -> dict[int, int]:
        partner: dict[int, int] = {}
        open_: list[int] = []
        for position in range(len(self.where)):
            text = self.text(position)
            if text in _CLOSES:
                open_.append(position)
            elif open_ and text == _CLOSES[self.text(open_[-1])]:
                partner[position] = open_.pop()
                partner[partner[position]] = position
        return partner

    def past_angles(self, position: int) -> int | None:
        """Returns the position after the `>` that closes the `<` here; None if it is no template bracket."""
        depth, here = 0, position
        while here < min(len(self), position + _FARTHEST):
            match self.text(here):
                case "<":
                    depth += 1
                case "<<":
                    depth += 2
                case ">":
                    depth -= 1
                case "(" | "[" | "{":
                    here = self.partner.get(here, len(self))
                case ")" | "]" | "}" | ";":
                    return None
            here += 1
            if depth <= 0:
                return here
        return None

    def before_angles(self, position: int) -> int | None:
        """Returns the position of the `<` that the `>` here closes; None if it is no template bracket."""
        depth, here = 0, position
        while here >= max(0, position - _FARTHEST):
            match self.text(here):
                case ">":
                    depth += 1
                case "<":
                    depth -= 1
                case ")" | "]" | "}":
                    here = self.partner.get(here, -1)
                case "(" | "[" | "{" | ";":
                    return None
            if depth == 0:
                return here
            here -= 1
        return None
