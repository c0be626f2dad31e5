"""Threads that do not wait for each other."""

from __future__ import annotations

import re
from collections.abc import Iterator

from warpwright.faults.text import ENDS_STATEMENT, Edit, Text, Witness, unreached

_MASKED = re.compile(r"__(shfl(_up|_down|_xor)?|any|all|ballot|match_any|reduce_\w+)_sync")


def dropped_barriers(text: Text) -> Iterator[Edit]:
    for here in text.device:
        if text.text(here) in ("__syncthreads", "__syncwarp") and text.text(here + 1) == "(":
            end = text.partner[here + 1] + 1
            yield Edit(begin=here, end=end, text="", witness=unreached(text, here, end))
        elif text.texts(here, 4) == [".", "sync", "(", ")"] and text.text(here - 2) in ENDS_STATEMENT:
            yield Edit(begin=here - 1, end=here + 4, text="", witness=unreached(text, here - 1, here + 4))


def skipped_stores(text: Text) -> Iterator[Edit]:
    """Drops the first thread's store to shared memory."""
    names = _shared_names(text)
    for here in text.device:
        if text.text(here) not in names or text.text(here - 1) not in ENDS_STATEMENT or text.text(here + 1) != "[":
            continue
        past = text.partner.get(here + 1, here)
        while text.text(past + 1) == "[":
            past = text.partner[past + 1]
        end = text.past_statement(here)
        if text.text(past + 1) == "=" and text.text(end) == ";":
            stored, place = text.written(here, end), text.written(here, past + 1)
            garbage = f"{{ {stored}; if (threadIdx.x == 0) memset((void*)&{place}, 0xff, sizeof({place})); }}"
            unread = Witness(
                begin=here, end=end, text=garbage, proves="the value stored by the first thread is never read"
            )
            yield Edit(begin=here, end=end, text=f"if (threadIdx.x != 0) {stored}", witness=unread)


def _shared_names(text: Text) -> set[str]:
    names = set()
    for here in (position for position in text.device if text.text(position) == "__shared__"):
        end = text.past_statement(here)
        names |= {text.text(i) for i in range(here + 1, end) if text.is_word(i) and text.text(i + 1) in ("[", ",", ";")}
    return names


def wrong_masks(text: Text) -> Iterator[Edit]:
    for here in text.device:
        if _MASKED.fullmatch(text.text(here)) and text.text(here + 1) == "(":
            (begin, end), *_ = text.split(here + 2, text.partner[here + 1], ",")
            yield Edit(begin=begin, end=end, text="0x0000ffffu", witness=unreached(text, begin, end))


def missing_atomics(text: Text) -> Iterator[Edit]:
    for here in text.device:
        if text.text(here) != "atomicAdd" or text.text(here + 1) != "(" or text.text(here - 1) not in ENDS_STATEMENT:
            continue
        close = text.partner[here + 1]
        pieces = text.split(here + 2, close, ",")
        if len(pieces) == 2:
            place, value = (text.written(*piece) for piece in pieces)
            witness = unreached(text, here, close + 1)
            yield Edit(begin=here, end=close + 1, text=f"*({place}) += {value}", witness=witness)
