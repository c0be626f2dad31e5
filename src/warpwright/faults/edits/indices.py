"""Subscripts that name another element."""

from __future__ import annotations

from collections.abc import Iterator

from warpwright.faults.text import Edit, Text, unreached


def swapped_indices(text: Text) -> Iterator[Edit]:
    for here in text.device:
        first = text.partner.get(here)
        if text.text(here) == "[" and first and text.text(first + 1) == "[" and text.text(here - 1) != "]":
            last = text.partner[first + 1]
            one, other = text.written(here, first + 1), text.written(first + 1, last + 1)
            if one != other and not _is_declared(text, here - 1):
                yield Edit(begin=here, end=last + 1, text=other + one, witness=unreached(text, here + 1, first))
        row, times, width, plus, column = text.texts(here, 5)
        words = all(text.is_word(here + step) for step in (0, 2, 4))
        if words and (times, plus) == ("*", "+") and text.text(here - 1) == "[" and text.text(here + 5) == "]":
            witness = unreached(text, here, here + 5)
            yield Edit(begin=here, end=here + 5, text=f"{column} * {width} + {row}", witness=witness)


def neighbouring_elements(text: Text) -> Iterator[Edit]:
    """Reads or writes the element before the right one."""
    for here in text.device:
        end = text.partner.get(here)
        if text.text(here) != "[" or end is None or not text.is_word(here - 1) or _is_declared(text, here - 1):
            continue
        subscript = text.written(here + 1, end)
        if any(text.is_word(inner) for inner in range(here + 1, end)):
            instead = f"({subscript}) > 0 ? ({subscript}) - 1 : 0"
            yield Edit(begin=here + 1, end=end, text=instead, witness=unreached(text, here + 1, end))


def wrong_row_lengths(text: Text) -> Iterator[Edit]:
    """Multiplies a position by a number that is one too small."""
    for here in text.device:
        word, times, number = text.texts(here, 3)
        if times == "*" and number.isdigit() and int(number) > 1 and text.is_word(here) and word != "sizeof":
            unused = unreached(text, here + 2, here + 3)
            yield Edit(begin=here + 2, end=here + 3, text=f"({number} - 1)", witness=unused)


def _is_declared(text: Text, name: int) -> bool:
    return text.is_word(name - 1) or text.text(name - 1) in (",", "__shared__", ">")
