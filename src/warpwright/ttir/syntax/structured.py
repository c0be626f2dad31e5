"""Functions, loops, branches and constants, whose syntax is their own."""

from __future__ import annotations

import re
from collections.abc import Callable

from warpwright.ttir.syntax.attributes import dictionary
from warpwright.ttir.syntax.scanner import LABEL, SYMBOL, VALUE, WORD, Scanner
from warpwright.ttir.syntax.tree import Block, Function, Operation, Region
from warpwright.ttir.syntax.types import Type

ReadRegion = Callable[[], Region]
_REGION = re.compile(r"\{[ \t]*\n")


def function(scan: Scanner, region: ReadRegion) -> Function:
    """`tt.func public @name(%x: !tt.ptr<f32> {tt.divisibility = 16 : i32}) -> f32 attributes {...} { ... }`"""
    scan.expect("tt.func")
    public = scan.match(WORD) != "private"
    name = scan.take(SYMBOL, "the name of a function")
    scan.expect("(")
    hints: dict[str, dict[str, str]] = {}
    given = parameters(scan, hints)
    if scan.accept("->"):
        _listed(scan)
    body: Region = []
    if scan.accept("attributes"):
        scan.expect("{")
        dictionary(scan)
    if scan.match(_REGION):
        body = region()
    location(scan)
    return Function(name.strip('@"'), given, hints, body, public)


def parameters(scan: Scanner, hints: dict[str, dict[str, str]] | None = None) -> list[tuple[str, Type]]:
    """`%x: f32 {...} loc(...), %y: i32)`, with the closing bracket."""
    found: list[tuple[str, Type]] = []
    while not scan.accept(")"):
        scan.skip_lines()
        name = scan.take(VALUE, "a parameter")
        scan.expect(":")
        found.append((name, scan.type()))
        if scan.accept("{"):
            said = dictionary(scan)
            if hints is not None:
                hints[name] = said
        location(scan)
        scan.accept(",")
    return found


def location(scan: Scanner) -> None:
    if scan.accept("loc("):
        scan.balanced(")")
        scan.expect(")")


def _for(scan: Scanner, made: Operation, region: ReadRegion) -> None:
    """`scf.for %i = %a to %b step %c iter_args(%x = %y) -> (f32) : i32 {`; operands: %a %b %c %y"""
    made.words = ["unsigned"] if scan.accept("unsigned") else []
    counter = scan.take(VALUE, "a counter")
    for word in ("=", "to", "step"):
        scan.expect(word)
        made.operands.append(scan.take(VALUE, "a bound"))
    carried = _carried(scan, made) if scan.accept("iter_args") else []
    kind = Type("i32")
    if scan.accept("->"):
        made.given = _listed(scan)
    if scan.accept(":"):
        kind = scan.type()
    _body(scan, made, region, [(counter, kind), *zip(carried, made.given, strict=True)])


def _while(scan: Scanner, made: Operation, region: ReadRegion) -> None:
    """`scf.while (%x = %y) : (f32) -> f32 {` ... `} do {`; each region has its own parameters"""
    carried = _carried(scan, made) if scan.sees("(") else []
    scan.expect(":")
    made.taken = _listed(scan)
    scan.expect("->")
    made.given = _listed(scan)
    _body(scan, made, region, list(zip(carried, made.taken, strict=True)))
    scan.expect("do")


def _body(scan: Scanner, made: Operation, region: ReadRegion, given: list[tuple[str, Type]]) -> None:
    scan.take(_REGION, "a region")
    blocks = region() or [Block("")]
    blocks[0].parameters = given
    made.regions.append(blocks)


def _carried(scan: Scanner, made: Operation) -> list[str]:
    names: list[str] = []
    scan.expect("(")
    while not scan.accept(")"):
        names.append(scan.take(VALUE, "a carried value"))
        scan.expect("=")
        made.operands.append(scan.take(VALUE, "its first value"))
        scan.accept(",")
    return names


def _listed(scan: Scanner) -> list[Type]:
    """`(f32, i32)` or a single type."""
    if not scan.accept("("):
        return [scan.type()]
    found: list[Type] = []
    while not scan.accept(")"):
        found.append(scan.type())
        scan.accept(",")
    return found


def _branch(scan: Scanner, made: Operation, region: ReadRegion) -> None:
    """`cf.br ^bb1(%x : f32)` and `cf.cond_br %c, ^bb1, ^bb2(%x : f32)`"""
    while not scan.sees("^"):
        made.operands.append(scan.take(VALUE, "a condition"))
        scan.accept(",")
    while (label := scan.match(LABEL)) is not None:
        made.targets.append((label, _handed(scan) if scan.accept("(") else []))
        scan.accept(",")


def _handed(scan: Scanner) -> list[str]:
    values: list[str] = []
    while (value := scan.match(VALUE)) is not None:
        values.append(value)
        scan.accept(",")
    if scan.accept(":"):
        scan.balanced(")")
    scan.expect(")")
    return values


def _constant(scan: Scanner, made: Operation, region: ReadRegion) -> None:
    """`arith.constant dense<0.0> : tensor<4xf32>`, `arith.constant true`; the literal is the only word"""
    scan.skip()
    if scan.accept("{"):
        made.attributes = dictionary(scan)
        scan.skip()
    literal = scan.balanced(" ")
    made.words = [literal]
    if literal in ("true", "false") and not scan.sees(":"):
        made.given = [Type("i1")]


READERS: dict[str, Callable[[Scanner, Operation, ReadRegion], None]] = {
    "scf.for": _for,
    "scf.while": _while,
    "cf.br": _branch,
    "cf.cond_br": _branch,
    "arith.constant": _constant,
}
