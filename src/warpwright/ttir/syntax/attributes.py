"""Attribute dictionaries: `{axis = 0 : i32, noinline}` and `<{axis = 0 : i32}>`; values stay text."""

from __future__ import annotations

import re

from warpwright.ttir.syntax.scanner import STRING, WORD, Scanner

_NUMBER = re.compile(r"-?\d+")


def dictionary(scan: Scanner) -> dict[str, str]:
    """Read a dictionary whose opening brace has been taken."""
    found: dict[str, str] = {}
    while not scan.accept("}"):
        key = (scan.match(WORD) or scan.take(STRING, "an attribute")).strip('"')
        found[key] = ""
        if scan.accept("="):
            scan.skip()
            found[key] = scan.balanced(",}")
        scan.accept(",")
    return found


def integers(value: str) -> list[int]:
    """The numbers of `array<i32: 1, 0>`, `dense<[64, 1]> : tensor<2xi32>` or `16 : i32`."""
    if value.startswith("array<"):
        value = value.partition(":")[2]
    elif value.startswith("dense<"):
        value = value[len("dense<") : value.index(">")]
    else:
        value = value.partition(":")[0]
    return [int(number) for number in _NUMBER.findall(value)]
