"""Cuts preprocessed headers into pieces: one for each declaration at namespace scope, with the names that request it.

Text that is not understood is always kept. A wrongly cut piece does not compile, and a text that does not compile is
compiled again with all headers.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass

from warpwright.cpp.tokens import Code, Kind, tokenize
from warpwright.seal.device.declared_names import AFTER_CLASS_NAME, KEYS, Dropped, Meaning, Reader, Unknown, literal

_LITERAL = re.compile(r"""(?:"(?:[^"\\\n]|\\.)*"?|'(?:[^'\\\n]|\\.)*'?|\b\d[\d.']*)([^\W\d](?:\w|'\w)*)?""")


@dataclass(frozen=True, slots=True, kw_only=True)
class Piece:
    text: str
    scope: tuple[int, ...]
    """The namespaces and linkages around it, outermost first, by number."""
    place: str = ""
    """The line marker before it."""
    names: frozenset[str] = frozenset()
    """Any of these names requests the piece."""
    takes: frozenset[str] = frozenset()
    """The words in the types of its parameters: without values of these types it cannot be called."""
    words: frozenset[str] = frozenset()
    """Every word in it, including suffixes of literals."""
    kind: str = "always"
    """The kind of declaration: class, alias, using, operator or other; or always."""
    within: tuple[str, ...] = ()
    """The namespaces around it, outermost first, without inline ones."""
    brought_from: tuple[str, ...] = ()
    """The namespaces that a using-declaration names; the first is "" if it begins at the global namespace."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Cut:
    pieces: tuple[Piece, ...]
    scopes: tuple[str, ...]
    """The opening text of each scope, by number."""


def literals(text: str) -> Iterator[str]:
    """The literal suffixes in a text, as keys of their operators; suffixes of plain numbers have none."""
    return map(literal, _LITERAL.findall(text))


def cut(text: str) -> Cut:
    cutter = _Cutter(text)
    cutter.walk(0, len(cutter.code), ())
    return Cut(pieces=tuple(cutter.pieces), scopes=tuple(cutter.scopes))


class _Cutter(Reader):
    def __init__(self, text: str) -> None:
        super().__init__(Code(tokenize(text)))
        self.pieces: list[Piece] = []
        self.scopes: list[str] = []
        self._past = 0
        self._place = ""
        self._opened: set[tuple[str, ...]] = set()
        self._within: list[tuple[str, ...]] = []

    def walk(self, here: int, end: int, scope: tuple[int, ...]) -> None:
        while here < end:
            if self.text(here) == ";":
                here += 1
                continue
            opening = self._scope_opening(here)
            pragmas = self._pragmas_before(here, scope)
            if opening is not None:
                close = self.code.partner[opening]
                inner = (*scope, self._open(here, opening, scope))
                self.walk(opening + 1, close, inner)
                here = close + 1
            else:
                past = self._end(here, end)
                self._add(here, past, scope, pragmas)
                here = past
            self._past = self.code.where[here - 1] + 1

    def _scope_opening(self, here: int) -> int | None:
        """The `{` of a namespace or of a linkage that begins here."""
        while self.text(here) in ("inline", "__extension__"):
            here += 1
        if self.text(here) == "extern" and self.is_string(here + 1):
            here += 2
        elif self.text(here) == "namespace":
            while self.text(here) not in ("{", ";", "=", ""):
                here = self.past_bracket(here) if self.text(here) in ("(", "[") else here + 1
        return here if self.text(here) == "{" and here in self.code.partner else None

    def _open(self, here: int, opening: int, scope: tuple[int, ...]) -> int:
        """Numbers a scope. The first opening of a namespace is always kept, since names may be looked up in it."""
        self.scopes.append(self._raw(here, opening + 1))
        self._within.append(self.namespaces(here, opening))
        number = len(self.scopes) - 1
        path = tuple(self._title(step) for step in (*scope, number))
        if path not in self._opened:
            self._opened.add(path)
            self.pieces.append(Piece(text="", scope=(*scope, number)))
        self._past = self.code.where[opening] + 1
        return number

    def _title(self, scope: int) -> str:
        return self.scopes[scope].partition("__attribute__")[0].strip(" {")

    def _end(self, start: int, end: int) -> int:
        """The position after the declaration that begins here."""
        here, whole = self._beginning(start)
        while here < end:
            match self.text(here):
                case ";":
                    return here + 1
                case "(" | "[":
                    here = self.past_bracket(here) - 1
                case "=" if self.text(here - 1) != "operator":
                    whole = True
                case "{":
                    close = self.past_bracket(here) - 1
                    if not (whole or self._is_requirement(here) or self.text(close + 1) in (",", "{")):
                        return close + 1 + (self.text(close + 1) == ";")
                    here = close
            here += 1
        return end

    def _beginning(self, start: int) -> tuple[int, bool]:
        """The position at which the declaration itself begins, and whether only a semicolon ends it."""
        try:
            here = self.head(start)
            if self.text(here) in ("using", "typedef", "enum", "concept"):
                return here, True
            return here, self.text(here) in KEYS and self.class_name(here)[1] in AFTER_CLASS_NAME
        except Unknown:
            return start, False

    def _is_requirement(self, brace: int) -> bool:
        """Whether the brace opens a requires-expression, not the body of a constrained declaration."""
        word = brace - 1
        if self.text(word) == ")":
            word = self.code.partner.get(word, 0) - 1
        return self.text(word) == "requires" and self.text(word - 1) in ("requires", "=", "&&", "||", "(", "!", ",")

    def _add(self, here: int, end: int, scope: tuple[int, ...], pragmas: list[str]) -> None:
        try:
            meaning = self.meaning(here, end)
        except Dropped:
            return
        except Unknown:
            meaning = Meaning("always", [])
        inside = [i for i in range(here, end) if self.code.is_word(i)]
        text = self._raw(here, end)
        self.pieces.append(
            Piece(
                text="".join(f"\n{pragma}\n" for pragma in pragmas) + text,
                scope=scope,
                place=self._place,
                names=frozenset(meaning.names),
                takes=meaning.takes - self.template_parameters(here),
                words=frozenset((*(self.text(i) for i in inside if self.text(i - 1) != "."), *literals(text))),
                kind=meaning.kind,
                within=tuple(name for step in scope for name in self._within[step]),
                brought_from=meaning.brought_from,
            )
        )

    def _pragmas_before(self, here: int, scope: tuple[int, ...]) -> list[str]:
        """Pragmas since the last piece that apply to this one; those that push and pop are separate pieces."""
        found = []
        for index in range(self._past, self.code.where[here]):
            token = self.code.tokens[index]
            line = token.text.strip() if token.kind is Kind.DIRECTIVE else ""
            if line.startswith("# ") and line[2:3].isdigit():
                self._place = line
            elif _is_state(line):
                self.pieces.append(Piece(text=f"\n{line}\n", scope=scope))
            elif line.startswith("#pragma") and not _is_remark(line):
                found.append(line)
        return found

    def _raw(self, begin: int, end: int) -> str:
        parts = []
        for index in range(self.code.where[begin], self.code.where[end - 1] + 1):
            token = self.code.tokens[index]
            match token.kind:
                case Kind.DIRECTIVE:
                    line = token.text.strip()
                    parts.append(f"\n{line}\n" if line.startswith("#pragma") and not _is_remark(line) else " ")
                case Kind.SPACE:
                    parts.append(" ")
                case _:
                    parts.append(token.text)
        return "".join(parts)


def _is_state(line: str) -> bool:
    return line.startswith("#pragma") and not _is_remark(line) and any(w in line for w in ("visibility", "push", "pop"))


def _is_remark(line: str) -> bool:
    return "diagnostic" in line or "system_header" in line
