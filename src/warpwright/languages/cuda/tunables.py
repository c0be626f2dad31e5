"""Reads the constants that a kernel leaves to a tuner, and writes the same source with other values.

    // tune: BLOCK = 64, 128, 256, 512
    constexpr int BLOCK = 256;

A comment names the constant and its values: integers, floating-point numbers, true and false, or identifiers. The
constant is set by one `#define BLOCK 256`, or one `constexpr` or `const` variable, anywhere in the source. Another
value is written exactly as the comment spells it, and the rest of the source does not change.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from itertools import accumulate

from warpwright.core.errors import UsageError
from warpwright.cpp.tokens import Code, Kind, Token, tokenize
from warpwright.languages.frontend import Value

_COMMENT = re.compile(r"//[ \t]*tune:(?P<rest>.*)", re.DOTALL)
_DECLARED = re.compile(r"[ \t]*(?P<name>[A-Za-z_]\w*)[ \t]*=(?P<values>[^=]*)")
_INTEGER = re.compile(r"[-+]?(?:0[xX][0-9a-fA-F]+|0|[1-9]\d*)[uUlL]{0,3}")
_FLOATING = re.compile(r"[-+]?(?:\d+\.\d*|\.\d+|\d+(?=[eE]))(?:[eE][-+]?\d+)?[fF]?")
_IDENTIFIER = re.compile(r"[A-Za-z_]\w*")
_DEFINE = re.compile(r"[ \t]*#[ \t]*define[ \t]+(?P<name>[A-Za-z_]\w*)[ \t]+(?P<rest>\S.*)", re.DOTALL)
_REMARK = re.compile(r"/[/*]")
_FARTHEST = 4096
"""The number of tokens searched for one statement: hostile text must not make the search quadratic."""
_ENDS = frozenset({";", "{", "}", ""})


@dataclass(frozen=True, slots=True, kw_only=True)
class _Place:
    """The position of a constant's value in the source."""

    begin: int
    end: int
    text: str


@dataclass(frozen=True, slots=True, kw_only=True)
class _Tunable:
    spellings: Mapping[tuple[type, Value], str]
    """Spellings by type and value, because True, 1 and 1.0 are equal in Python."""
    place: _Place
    value: Value

    @property
    def values(self) -> tuple[Value, ...]:
        return tuple(value for _, value in self.spellings)


def space(source: str) -> dict[str, tuple[Value, ...]]:
    """The values that each tunable may have, in the order of the comment; empty if the source has no tunable."""
    return {name: tunable.values for name, tunable in _tunables(source).items()}


def settings(source: str) -> dict[str, Value]:
    """The current value of each tunable, which need not be one of those that the comment names."""
    return {name: tunable.value for name, tunable in _tunables(source).items()}


def with_settings(source: str, values: Mapping[str, Value]) -> str:
    """The same source with other values; tunables that `values` does not name keep theirs."""
    tunables = _tunables(source)
    changes = [_change(tunables, name, value) for name, value in values.items()]
    for place, text in sorted(changes, key=lambda change: change[0].begin, reverse=True):
        source = source[: place.begin] + text + source[place.end :]
    return source


def _change(tunables: Mapping[str, _Tunable], name: str, value: Value) -> tuple[_Place, str]:
    if name not in tunables:
        known = ", ".join(tunables) or "none"
        raise UsageError(f"{name} is not a tunable of this source; its tunables: {known}")
    tunable = tunables[name]
    if _exact(value) == _exact(tunable.value):
        return tunable.place, tunable.place.text
    if _exact(value) not in tunable.spellings:
        choice = ", ".join(tunable.spellings.values())
        raise UsageError(f"{name} cannot be {value}; one of {choice}")
    return tunable.place, tunable.spellings[_exact(value)]


def _tunables(source: str) -> dict[str, _Tunable]:
    tokens = tokenize(source)
    declared = dict(_declared(tokens))
    if not declared:
        return {}
    places = _places(tokens)
    return {name: _tunable(name, spellings, places.get(name, [])) for name, spellings in declared.items()}


def _tunable(name: str, spellings: Mapping[tuple[type, Value], str], places: list[_Place]) -> _Tunable:
    if not places:
        raise UsageError(f"the tunable {name} is never set; write '#define {name} ...' or 'constexpr int {name} = ...'")
    if len(places) > 1:
        raise UsageError(f"the tunable {name} is set in {len(places)} places; it must be set in one")
    value = _value(places[0].text)
    if value is None:
        found = _on_one_line(places[0].text)
        raise UsageError(f"the tunable {name} is set to '{found}', which is not a single literal or name")
    return _Tunable(spellings=spellings, place=places[0], value=value)


def _declared(tokens: list[Token]) -> Iterator[tuple[str, dict[tuple[type, Value], str]]]:
    """Reads the comments. A comment at the end of a directive belongs to the directive's token."""
    seen: set[str] = set()
    for token in tokens:
        found = _comment(token)
        if found is None:
            continue
        match = _DECLARED.fullmatch(found)
        if match is None:
            raise UsageError(f"'tune:{_on_one_line(found)}' is not understood; write '// tune: BLOCK = 64, 128, 256'")
        if match["name"] in seen:
            raise UsageError(f"the tunable {match['name']} is declared twice")
        seen.add(match["name"])
        yield match["name"], _spellings(match["name"], match["values"])


def _comment(token: Token) -> str | None:
    """The text after `tune:` in a comment; None for every other token."""
    if token.kind is Kind.SPACE:
        match = _COMMENT.match(token.text)
    else:
        match = _COMMENT.search(token.text) if token.kind is Kind.DIRECTIVE else None
    return match["rest"].rstrip() if match else None


def _spellings(name: str, text: str) -> dict[tuple[type, Value], str]:
    found: dict[tuple[type, Value], str] = {}
    for word in (word.strip() for word in text.split(",")):
        value = _value(word)
        if value is None:
            raise UsageError(
                f"the tunable {name} cannot be '{_on_one_line(word)}'; a value is a number, true, false or a name"
            )
        if _exact(value) in found:
            raise UsageError(f"the tunable {name} names the value {word} twice")
        found[_exact(value)] = word
    return found


def _value(text: str) -> Value | None:
    """The value of a spelling; None if it is not a single literal or name."""
    if text in ("true", "false"):
        return text == "true"
    if _INTEGER.fullmatch(text):
        return int(text.rstrip("uUlL"), 0)
    if _FLOATING.fullmatch(text):
        return float(text.rstrip("fF"))
    return text if _IDENTIFIER.fullmatch(text) else None


def _on_one_line(text: str) -> str:
    """The beginning of a text on one line, short enough to quote."""
    return " ".join(text.split())[:80]


def _exact(value: Value) -> tuple[type, Value]:
    return type(value), value


def _places(tokens: list[Token]) -> dict[str, list[_Place]]:
    """Finds every place that sets a constant, by the constant's name."""
    places: dict[str, list[_Place]] = {}
    for name, place in (*_defines(tokens), *_variables(tokens)):
        places.setdefault(name, []).append(place)
    return places


def _defines(tokens: list[Token]) -> Iterator[tuple[str, _Place]]:
    for start, token in zip(_starts(tokens), tokens, strict=False):
        match = _DEFINE.fullmatch(token.text) if token.kind is Kind.DIRECTIVE else None
        text = _REMARK.split(match["rest"], maxsplit=1)[0].rstrip() if match else ""
        if match and text:
            begin = start + match.start("rest")
            yield match["name"], _Place(begin=begin, end=begin + len(text), text=text)


def _variables(tokens: list[Token]) -> Iterator[tuple[str, _Place]]:
    """Yields constants set by declarations such as `constexpr int A = 1, B{2};` or `static const float C = 0.5f;`."""
    code, starts = Code(tokens), _starts(tokens)
    for position in range(len(code)):
        if code.is_word(position) and code.text(position + 1) in ("=", "{") and _is_constant(code, position):
            begin, end = position + 2, _value_end(code, position + 2)
            if begin < end:
                first, last = code.where[begin], code.where[end - 1]
                text = "".join(token.text for token in tokens[first : last + 1])
                yield code.text(position), _Place(begin=starts[first], end=starts[first] + len(text), text=text)


def _is_constant(code: Code, position: int) -> bool:
    """Whether a `constexpr` or `const` declaration declares the name at this position, outside of any parentheses."""
    if not (code.is_word(position - 1) or code.text(position - 1) in (",", ">")):
        return False
    words = set(_before(code, position - 1))
    return bool(words & {"const", "constexpr"}) and not words & {"(", "template"}


def _before(code: Code, here: int) -> Iterator[str]:
    """Yields the words of a statement from here back to its start, skipping closed brackets."""
    for _ in range(_FARTHEST):
        text = code.text(here)
        initialiser = text == "}" and code.text(here + 1) == ","
        if text in _ENDS and not initialiser:
            return
        if text in (")", "]", "}"):
            here = code.partner.get(here, 0)
        else:
            yield text
        here -= 1


def _value_end(code: Code, here: int) -> int:
    while code.text(here) not in (";", ",", "}", ""):
        here = code.partner.get(here, here) + 1 if code.text(here) in ("(", "[", "{") else here + 1
    return here


def _starts(tokens: list[Token]) -> list[int]:
    """The offset in the source at which each token begins."""
    return list(accumulate((len(token.text) for token in tokens), initial=0))
