"""Sums that start wrong, lose terms or are rounded coarsely."""

from __future__ import annotations

import re
from collections.abc import Iterator

from warpwright.faults.text import ENDS_STATEMENT, Edit, Text, unreached

_ACCUMULATOR = ("float", "double")
_ZERO = re.compile(r"0(\.0*)?f?|0\.f?")


def wrong_identities(text: Text) -> Iterator[Edit]:
    for here in text.device:
        kind, name, equals, zero, end = text.texts(here, 5)
        if kind in _ACCUMULATOR and equals == "=" and _ZERO.fullmatch(zero) and end in (";", ","):
            if _is_accumulated(text, name):
                yield Edit(begin=here + 3, end=here + 4, text="1.0f", witness=unreached(text, here + 3, here + 4))
        elif text.texts(here, 2) == ["-", "INFINITY"] or text.texts(here, 2) == ["-", "FLT_MAX"]:
            yield Edit(begin=here, end=here + 2, text="0.0f", witness=unreached(text, here, here + 2))


def _is_accumulated(text: Text, name: str) -> bool:
    return any(text.texts(here, 3) == [name, "+", "="] for here in text.device)


def dropped_epsilons(text: Text) -> Iterator[Edit]:
    for here in text.device:
        if text.text(here) == "+" and text.text(here + 1) in ("eps", "epsilon", "EPS"):
            yield Edit(begin=here, end=here + 2, text="", witness=unreached(text, here + 1, here + 2))


def coarse_accumulations(text: Text) -> Iterator[Edit]:
    """Rounds sums to the ten mantissa bits of a half."""
    for here in text.device:
        if text.texts(here + 1, 2) != ["+", "="] or not _is_float(text, text.text(here)):
            continue
        end = text.past_statement(here)
        if text.text(here - 1) in ENDS_STATEMENT and text.text(end) == ";":
            name, added = text.text(here), text.written(here + 3, end)
            coarse = f"__int_as_float(__float_as_int({name} + ({added})) & 0xffffe000)"
            yield Edit(begin=here, end=end, text=f"{name} = {coarse}", witness=unreached(text, here, end))


def lost_terms(text: Text) -> Iterator[Edit]:
    """Keeps the last term of a sum alone."""
    for here in text.device:
        if text.texts(here + 1, 2) == ["+", "="] and _is_float(text, text.text(here)):
            yield Edit(begin=here + 1, end=here + 3, text="=", witness=unreached(text, here, text.past_statement(here)))


def skipped_steps(text: Text) -> Iterator[Edit]:
    """Begins a loop that halves its counter one step too late."""
    for here in text.device:
        if text.text(here) != "for" or (close := text.partner.get(here + 1)) is None:
            continue
        parts = text.split(here + 2, close, ";")
        step = text.written(*parts[-1]).replace(" ", "")
        begin = next((i + 1 for i in range(*parts[0]) if text.text(i) == "="), None)
        if len(parts) == 3 and begin is not None and re.search(r"(/=2|>>=1)$", step):
            start = text.written(begin, parts[0][1])
            used = unreached(text, begin, parts[0][1])
            yield Edit(begin=begin, end=parts[0][1], text=f"({start}) / 2", witness=used)


def coarse_results(text: Text) -> Iterator[Edit]:
    """Rounds values to the ten mantissa bits of a half."""
    for begin, end in text.assignments():
        value = text.written(begin, end)
        if not value.startswith("{") and "{" not in value:
            coarse = f"__int_as_float(__float_as_int(float({value})) & 0xffffe000)"
            yield Edit(begin=begin, end=end, text=coarse, witness=unreached(text, begin, end))


def _is_float(text: Text, name: str) -> bool:
    return any(text.texts(here, 3)[:2] == ["float", name] for here in text.device)
