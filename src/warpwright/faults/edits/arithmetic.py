"""Formulas with another operation, function or constant."""

from __future__ import annotations

import re
from collections.abc import Iterator

from warpwright.faults.text import Edit, Text, unreached

_OTHER_OPERATION = {"+": "-", "-": "+", "*": "+", "/": "*"}
_OTHER_FUNCTION = {
    "fmaxf": "fminf",
    "fminf": "fmaxf",
    "expf": "exp2f",
    "__expf": "exp2f",
    "exp2f": "expf",
    "logf": "log2f",
    "sqrtf": "rsqrtf",
    "rsqrtf": "sqrtf",
    "tanhf": "erff",
    "erff": "tanhf",
}
_FLOAT = re.compile(r"(\d+\.\d*|\.\d+|\d+(?=e))(e[+-]?\d+)?f?", re.IGNORECASE)
_FACTOR = "1.0625f"


def other_operations(text: Text) -> Iterator[Edit]:
    """Exchanges operators in the right sides of floating assignments, outside of subscripts."""
    for begin, end in text.assignments():
        here = begin
        while here < end:
            operator = text.text(here)
            if operator == "[" and here in text.partner:
                here = text.partner[here]
            elif operator in _OTHER_OPERATION and _is_binary(text, here):
                used = unreached(text, begin, end)
                yield Edit(begin=here, end=here + 1, text=_OTHER_OPERATION[operator], witness=used)
            here += 1


def _is_binary(text: Text, here: int) -> bool:
    before, after = text.text(here - 1), text.text(here + 1)
    return (before[-1:].isalnum() or before in (")", "]")) and after not in ("=", "+", "-", ">", "&")


def other_functions(text: Text) -> Iterator[Edit]:
    for here in text.device:
        other = _OTHER_FUNCTION.get(text.text(here))
        if other and text.text(here + 1) == "(":
            used = unreached(text, here, text.partner[here + 1] + 1)
            yield Edit(begin=here, end=here + 1, text=other, witness=used)


def changed_constants(text: Text) -> Iterator[Edit]:
    """Makes floating constants other than zero a sixteenth larger."""
    for here in text.device:
        number = text.text(here)
        if _FLOAT.fullmatch(number) and float(number.rstrip("fF")):
            used = unreached(text, here, here + 1)
            yield Edit(begin=here, end=here + 1, text=f"({number} * {_FACTOR})", witness=used)
