"""Fingerprints sources, to detect repeats: a hash that ignores comments, white space and the source's own names.

Sources with equal fingerprints do the same; the converse need not hold. A name counts as the source's own only if it is
plainly declared: a missed repeat costs one evaluation, whereas a new idea mistaken for a repeat is lost.
"""

from __future__ import annotations

import hashlib
import re
from collections.abc import Iterator, Sequence

from warpwright.cpp.tokens import Code, Kind, Token, tokenize

_ENDS_DECLARATOR = frozenset("(;=,)[{:>")
_NO_TYPE = re.compile(
    r"return|else|do|case|goto|new|delete|throw|sizeof|alignof|typeid|not|and|or|co_return|co_await|co_yield"
)
_KEYWORD = re.compile(
    r"alignas|asm|auto|bool|break|catch|char|class|const|const(expr|eval|init)|continue|decltype|default|double|enum"
    r"|explicit|extern|false|final|float|for|friend|if|inline|int|long|main|mutable|namespace|noexcept|nullptr|operator"
    r"|override|private|protected|public|register|short|signed|static|static_assert|struct|switch|template|this|true"
    r"|try|typedef|typename|union|unsigned|using|virtual|void|volatile|while"
)
_TYPE = re.compile(r"(__)?(nv_)?(float|double|half|bfloat16|int|uint|char|short|long|bool|void|const)\w*|\w+_t|T\d?")


def fingerprint(source: str) -> str:
    """Twenty hexadecimal digits."""
    tokens = list(_meaningful(tokenize(source)))
    own = _declared(tokens)
    numbers: dict[str, str] = {}
    texts = [
        numbers.setdefault(token.text, f"${len(numbers)}") if token.text in own else token.text for token in tokens
    ]
    return hashlib.sha256("\x00".join(texts).encode()).hexdigest()[:20]


def _meaningful(tokens: Sequence[Token]) -> Iterator[Token]:
    """The tokens without comments and white space; directives are tokenized, so that their names count."""
    for token in tokens:
        if token.kind is Kind.DIRECTIVE:
            yield Token(Kind.PUNCTUATION, "#")
            yield from _meaningful(tokenize(token.text.lstrip()[1:].replace("\\\n", " ")))
            yield Token(Kind.PUNCTUATION, "\n")
        elif token.kind is not Kind.SPACE:
            yield token


def _declared(tokens: Sequence[Token]) -> set[str]:
    code = Code(tokens)
    places = (place for place in range(len(code)) if code.is_word(place) and _declares(code, place))
    return {code.text(place) for place in places}


def _declares(code: Code, place: int) -> bool:
    name, before, after = code.text(place), code.text(place - 1), code.text(place + 1)
    if _KEYWORD.fullmatch(name) or _NO_TYPE.fullmatch(name) or name.startswith("__"):
        return False
    if before == "define" and code.text(place - 2) == "#":
        return True
    if after not in _ENDS_DECLARATOR:
        return False
    if code.is_word(place - 1):
        return not _NO_TYPE.fullmatch(before)
    if before in ("*", "&"):
        return bool(_TYPE.fullmatch(code.text(place - 2)))
    return before == ")" and code.text(code.partner.get(place - 1, 0) - 1) == "__launch_bounds__"
