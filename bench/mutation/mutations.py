"""Finds the places where a bug of each kind can be planted in CUDA source, with the replacement text.

Besides the bug, an edit may have a witness: the original with a trap or with garbage where the bug could take effect. A
witness that runs like the original in every run proves that the bug has no effect.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import cached_property

from warpwright.cpp.declarations import function_at
from warpwright.cpp.tokens import Code, Token

_ACCUMULATOR = ("float", "double")
_ZERO = re.compile(r"0(\.0*)?f?|0\.f?")
_MASKED = re.compile(r"__(shfl(_up|_down|_xor)?|any|all|ballot|match_any|reduce_\w+)_sync")
_ENDS_STATEMENT = (";", "{", "}", ")")


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


_UNREACHED = "the code is never reached"
_SAME_TEST = "the two conditions never differ"


def _unreached(text: Text, begin: int, end: int) -> Witness:
    """Builds a witness that traps when an expression or expression statement is evaluated."""
    return Witness(begin=begin, end=end, text=f"(__trap(), {text.written(begin, end)})", proves=_UNREACHED)


def _same_test(text: Text, begin: int, end: int, other: str) -> Witness:
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

    def comparisons(self, begin: int, end: int) -> Iterator[int]:
        """Yields the position of each `<` that is a comparison."""
        for here in range(begin, end):
            if self.text(here) == "<" and (self.past_angles(here) or end + 1) > end:
                yield here


def dropped_barriers(text: Text) -> Iterator[Edit]:
    for here in text.device:
        if text.text(here) in ("__syncthreads", "__syncwarp") and text.text(here + 1) == "(":
            end = text.partner[here + 1] + 1
            yield Edit(begin=here, end=end, text="", witness=_unreached(text, here, end))
        elif text.texts(here, 4) == [".", "sync", "(", ")"] and text.text(here - 2) in _ENDS_STATEMENT:
            yield Edit(begin=here - 1, end=here + 4, text="", witness=_unreached(text, here - 1, here + 4))


def shifted_bounds(text: Text) -> Iterator[Edit]:
    """Replaces `<` by `<=`; for counters that advance by tiles or double, the last iteration is dropped instead."""
    for word, begin, end in text.conditions():
        for here in text.comparisons(begin, end):
            yield _last_pass_lost(text, begin, end, here) or _compared(text, begin, end, here, 1, "<=")
        for here in range(begin, end - 1):
            if word == "if" and text.texts(here, 2) == [">", "="]:
                yield _compared(text, begin, end, here, 2, ">")


def _compared(text: Text, begin: int, end: int, here: int, length: int, instead: str) -> Edit:
    other = f"{text.written(begin, here)} {instead} {text.written(here + length, end)}"
    return Edit(begin=here, end=here + length, text=instead, witness=_same_test(text, begin, end, other))


def _last_pass_lost(text: Text, begin: int, end: int, here: int) -> Edit | None:
    """Replaces `k0 < K` by `k0 + TILE <= K` if every thread counts alike, and `d < n` by `2 * d < n`."""
    step = (
        text.split(end + 1, text.partner.get(text.opening(begin), end + 1), ";")[0] if text.text(end) == ";" else None
    )
    if step is None or here != begin + 1:
        return None
    counter, bound = text.text(begin), text.written(here + 1, end)
    taken = [text.text(i) for i in range(*step)]
    if taken[:3] in ([counter, "*", "="], [counter, "<<", "="]) or taken[:4] == [counter, "<", "<", "="]:
        other = f"2 * {counter} < {bound}"
    elif taken[:3] == [counter, "+", "="] and text.texts(begin - 3, 3) == ["=", "0", ";"]:
        other = f"{counter} + ({text.written(step[0] + 3, step[1])}) <= {bound}"
    else:
        return None
    return Edit(begin=begin, end=end, text=other, witness=_same_test(text, begin, end, other))


def changed_strides(text: Text) -> Iterator[Edit]:
    for here in text.device:
        if text.text(here) != "for" or (close := text.partner.get(here + 1)) is None:
            continue
        parts = text.split(here + 2, close, ";")
        step = next((i for i in range(parts[-1][0], close) if text.texts(i, 2) == ["+", "="]), None)
        if len(parts) == 3 and step is not None:
            once = _only_once(text, parts, step, close)
            yield Edit(begin=step + 2, end=close, text=f"2 * ({text.written(step + 2, close)})", witness=once)


def _only_once(text: Text, parts: Sequence[tuple[int, int]], step: int, close: int) -> Witness:
    """Traps where the loop would be entered again, after one step or after two."""
    test, begin = text.written(*parts[1]), parts[-1][0]
    again = f"({test} ? __trap() : void())"
    stepping = text.written(begin, close)
    return Witness(
        begin=begin,
        end=close,
        text=f"{stepping}, {again}, {stepping}, {again}",
        proves="the loop is never entered twice",
    )


def dropped_guards(text: Text) -> Iterator[Edit]:
    for word, begin, end in text.conditions():
        if word == "if" and any(True for _ in text.comparisons(begin, end)):
            yield Edit(begin=begin, end=end, text="true", witness=_same_test(text, begin, end, "true"))
        elif word == "if" and text.text(end + 1) == "return" and ">" in text.texts(begin, end - begin):
            yield Edit(begin=begin, end=end, text="false", witness=_same_test(text, begin, end, "false"))


def swapped_indices(text: Text) -> Iterator[Edit]:
    for here in text.device:
        first = text.partner.get(here)
        if text.text(here) == "[" and first and text.text(first + 1) == "[" and text.text(here - 1) != "]":
            last = text.partner[first + 1]
            one, other = text.written(here, first + 1), text.written(first + 1, last + 1)
            if one != other and not _is_declared(text, here - 1):
                yield Edit(begin=here, end=last + 1, text=other + one, witness=_unreached(text, here + 1, first))
        row, times, width, plus, column = text.texts(here, 5)
        words = all(text.is_word(here + step) for step in (0, 2, 4))
        if words and (times, plus) == ("*", "+") and text.text(here - 1) == "[" and text.text(here + 5) == "]":
            unreached = _unreached(text, here, here + 5)
            yield Edit(begin=here, end=here + 5, text=f"{column} * {width} + {row}", witness=unreached)


def _is_declared(text: Text, name: int) -> bool:
    return text.is_word(name - 1) or text.text(name - 1) in (",", "__shared__", ">")


def wrong_identities(text: Text) -> Iterator[Edit]:
    for here in text.device:
        kind, name, equals, zero, end = text.texts(here, 5)
        if kind in _ACCUMULATOR and equals == "=" and _ZERO.fullmatch(zero) and end in (";", ","):
            if _is_accumulated(text, name):
                yield Edit(begin=here + 3, end=here + 4, text="1.0f", witness=_unreached(text, here + 3, here + 4))
        elif text.texts(here, 2) == ["-", "INFINITY"] or text.texts(here, 2) == ["-", "FLT_MAX"]:
            yield Edit(begin=here, end=here + 2, text="0.0f", witness=_unreached(text, here, here + 2))


def _is_accumulated(text: Text, name: str) -> bool:
    return any(text.texts(here, 3) == [name, "+", "="] for here in text.device)


def dropped_epsilons(text: Text) -> Iterator[Edit]:
    for here in text.device:
        if text.text(here) == "+" and text.text(here + 1) in ("eps", "epsilon", "EPS"):
            yield Edit(begin=here, end=here + 2, text="", witness=_unreached(text, here + 1, here + 2))


def coarse_accumulations(text: Text) -> Iterator[Edit]:
    """Rounds sums to the ten mantissa bits of a half."""
    for here in text.device:
        if text.texts(here + 1, 2) != ["+", "="] or not _is_float(text, text.text(here)):
            continue
        end = text.past_statement(here)
        if text.text(here - 1) in _ENDS_STATEMENT and text.text(end) == ";":
            name, added = text.text(here), text.written(here + 3, end)
            coarse = f"__int_as_float(__float_as_int({name} + ({added})) & 0xffffe000)"
            yield Edit(begin=here, end=end, text=f"{name} = {coarse}", witness=_unreached(text, here, end))


def _is_float(text: Text, name: str) -> bool:
    return any(text.texts(here, 3)[:2] == ["float", name] for here in text.device)


def skipped_stores(text: Text) -> Iterator[Edit]:
    """Drops the first thread's store to shared memory."""
    names = _shared_names(text)
    for here in text.device:
        if text.text(here) not in names or text.text(here - 1) not in _ENDS_STATEMENT or text.text(here + 1) != "[":
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
            yield Edit(begin=begin, end=end, text="0x0000ffffu", witness=_unreached(text, begin, end))


def missing_atomics(text: Text) -> Iterator[Edit]:
    for here in text.device:
        if text.text(here) != "atomicAdd" or text.text(here + 1) != "(" or text.text(here - 1) not in _ENDS_STATEMENT:
            continue
        close = text.partner[here + 1]
        pieces = text.split(here + 2, close, ",")
        if len(pieces) == 2:
            place, value = (text.written(*piece) for piece in pieces)
            unreached = _unreached(text, here, close + 1)
            yield Edit(begin=here, end=close + 1, text=f"*({place}) += {value}", witness=unreached)


def short_grids(text: Text) -> Iterator[Edit]:
    """Computes a grid without rounding up, or with one block fewer."""
    for here in text.host:
        if text.text(here) == "+" and (close := _rounds_up(text, here)) is not None:
            yield Edit(begin=here, end=close, text="")
        if text.text(here) == "<<<":
            (begin, end), *_ = text.split(here + 1, _configuration_end(text, here), ",")
            grid = text.written(begin, end)
            if end > begin and not _is_dim3(text, begin, end):
                called = text.texts(begin + 1, 1) == ["("]  # the result of a call may be a dim3
                fewer = f"[](dim3 g) {{ g.x -= 1; return g; }}({grid})" if called else f"({grid}) - 1"
                yield Edit(begin=begin, end=end, text=fewer)


def _rounds_up(text: Text, plus: int) -> int | None:
    """Returns the `)` of `(n + T - 1) / T` or `(n + 255) / 256`."""
    one, minus, number = text.texts(plus + 1, 3)
    if minus == "-" and number == "1" and text.texts(plus + 4, 3) == [")", "/", one]:
        return plus + 4
    spelt = [text.text(plus + 1), text.text(plus + 4)]
    if text.texts(plus + 2, 2) == [")", "/"] and all(map(str.isdigit, spelt)) and int(spelt[1]) - int(spelt[0]) == 1:
        return plus + 2
    return None


def _configuration_end(text: Text, opening: int) -> int:
    here = opening + 1
    while here < len(text) and text.texts(here, 3) != [">", ">", ">"]:
        here = text.partner[here] + 1 if text.text(here) in ("(", "{") and here in text.partner else here + 1
    return here


def _is_dim3(text: Text, begin: int, end: int) -> bool:
    return "dim3" in text.texts(begin, end - begin) or (end - begin == 1 and text.text(begin) in _dim3_names(text))


def _dim3_names(text: Text) -> set[str]:
    """Names declared as dim3: `dim3 grid(1, 2), block(32);` declares two."""
    names = set()
    for here in (i for i in range(len(text)) if text.text(i) == "dim3"):
        names |= {text.text(first) for first, _ in text.split(here + 1, text.past_statement(here + 1), ",")}
    return names
