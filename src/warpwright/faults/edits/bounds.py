"""Bounds of loops, guards and grids that are off."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from warpwright.faults.text import Edit, Text, Witness, same_test


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
    return Edit(begin=here, end=here + length, text=instead, witness=same_test(text, begin, end, other))


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
    return Edit(begin=begin, end=end, text=other, witness=same_test(text, begin, end, other))


def early_ends(text: Text) -> Iterator[Edit]:
    """Ends a loop over `counter < bound` one element early, and at three quarters of its way."""
    for word, begin, end in text.conditions():
        for here in text.comparisons(begin, end) if word == "for" else ():
            if here != begin + 1 or "," in text.texts(here, end - here):
                continue
            bound = text.written(here + 1, end)
            for less in (f"({bound}) - 1", f"({bound}) - ({bound}) / 4"):
                other = f"{text.text(begin)} < {less}"
                yield Edit(begin=begin, end=end, text=other, witness=same_test(text, begin, end, other))


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
            yield Edit(begin=begin, end=end, text="true", witness=same_test(text, begin, end, "true"))
        elif word == "if" and text.text(end + 1) == "return" and ">" in text.texts(begin, end - begin):
            yield Edit(begin=begin, end=end, text="false", witness=same_test(text, begin, end, "false"))


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
