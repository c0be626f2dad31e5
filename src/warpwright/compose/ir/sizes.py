"""Sizes: formulas over the names of a task, compared by their values in every case the task has.

Two formulas that agree on all cases are the same size. This avoids symbolic algebra: "C*H*W // groups * groups" equals
"C*H*W" because the values agree in every case.
"""

from __future__ import annotations

import ast
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from warpwright.compose.code.text import KNOWN, Code, as_code, code, joined
from warpwright.compose.errors import CannotCompose
from warpwright.core.errors import UsageError
from warpwright.core.formula import Number, evaluate

Names = Mapping[str, Number]


@dataclass(frozen=True, slots=True, eq=False)
class Size:
    """A formula and what it is worth in each case."""

    text: str
    values: tuple[int, ...] = field(default=())

    def __eq__(self, other: object) -> bool:
        return isinstance(other, Size) and self.values == other.values

    def __hash__(self) -> int:
        return hash(self.values)

    @property
    def constant(self) -> int | None:
        """Its value, where it is one number whatever the case and no name stands in it."""
        return int(self.text) if self.text.isdecimal() else None

    @property
    def is_one(self) -> bool:
        return self.constant == 1

    @property
    def names(self) -> frozenset[str]:
        """The names in its formula."""
        return names_in(self.text)

    def __add__(self, other: Size) -> Size:
        if "0" in (self.text, other.text):
            return other if self.text == "0" else self
        values = tuple(a + b for a, b in zip(self.values, other.values, strict=True))
        return Size(f"{self.text} + {other.text}", values)

    def __sub__(self, other: Size) -> Size:
        if other.text == "0":
            return self
        values = tuple(a - b for a, b in zip(self.values, other.values, strict=True))
        return Size(f"{self.text} - {_factor(other.text)}", values)

    def __mul__(self, other: Size) -> Size:
        if self.is_one or other.is_one:
            return other if self.is_one else self
        values = tuple(a * b for a, b in zip(self.values, other.values, strict=True))
        if self.constant is not None and other.constant is not None:
            return Size(str(self.constant * other.constant), values)
        return Size(f"{_factor(self.text)}*{_factor(other.text)}", values)

    def __floordiv__(self, other: Size) -> Size:
        if other.is_one:
            return self
        values = tuple(a // max(b, 1) for a, b in zip(self.values, other.values, strict=True))
        if self.constant is not None and other.constant:
            return Size(str(self.constant // other.constant), values)
        return Size(f"{_factor(self.text)}//{_factor(other.text)}", values)


def names_in(formula: str) -> frozenset[str]:
    nodes = ast.walk(ast.parse(formula, mode="eval"))
    return frozenset(node.id for node in nodes if isinstance(node, ast.Name)) - {"min", "max"}


def _factor(text: str) -> str:
    return text if text.isidentifier() or text.isdecimal() else f"({text})"


class Cases:
    """Every assignment of values to names that a size is compared on."""

    def __init__(
        self,
        names: Sequence[Names],
        preferred: Iterable[str] = (),
        timed: Sequence[int] | None = None,
        widths: Sequence[int] | None = None,
    ) -> None:
        """`preferred` formulas are natural ones; they replace other formulas of the same value.

        `timed` are the positions of the cases that speed is measured on; all of them if not given. `widths` are the
        bytes of an element in each case.
        """
        self.widths = tuple(widths or [4] * len(names))
        self.names = tuple(names)
        self.timed = tuple(range(len(names)) if timed is None else timed)
        self.positions: dict[Any, Any] = {}
        """Coordinates in a box that were split from one position, and that position."""
        self._preferred: dict[tuple[int, ...], str] = {}
        for formula in sorted(preferred, key=len):
            self._preferred.setdefault(self._values(formula), formula)

    def _values(self, formula: str | int) -> tuple[int, ...]:
        try:
            return tuple(int(evaluate(formula, names)) for names in self.names)
        except UsageError:
            raise CannotCompose(f"the size {formula}") from None

    def size(self, formula: str | int) -> Size:
        text = str(formula)
        values = self._values(formula)
        return Size(text if text.isdecimal() else self._preferred.get(values, text), values)

    def one(self) -> Size:
        return self.size(1)

    def product(self, sizes: Iterable[Size]) -> Size:
        total = self.one()
        for size in sizes:
            total = total * size
        return Size(self._preferred.get(total.values, total.text), total.values)


def plain_formula(text: str) -> str:
    """A formula as the tracer writes it, in words that ours know."""
    return ast.unparse(_Plain().visit(ast.parse(text, mode="eval")))


class _Plain(ast.NodeTransformer):
    def visit_Call(self, node: ast.Call) -> ast.expr:
        self.generic_visit(node)
        name = node.func.id if isinstance(node.func, ast.Name) else ""
        if name in ("Mod", "PythonMod", "FloorDiv", "CleanDiv") and len(node.args) == 2:
            op = ast.Mod() if name.endswith("Mod") else ast.FloorDiv()
            return ast.BinOp(left=node.args[0], op=op, right=node.args[1])
        return ast.Call(func=ast.Name(id=name.lower(), ctx=ast.Load()), args=node.args, keywords=[])


def in_cpp(formula: str, places: Mapping[str, str]) -> Code:
    """A formula in C++, with each name written as the place it is found in."""
    return _cpp(ast.parse(formula, mode="eval").body, places)


_SIGNS = {ast.Add: "+", ast.Sub: "-", ast.Mult: "*", ast.FloorDiv: "/", ast.Mod: "%"}


def _cpp(node: ast.expr, places: Mapping[str, str]) -> Code:
    match node:
        case ast.Constant(value=int() as value):
            return as_code(value)
        case ast.Name(id=name) if name in places:
            return as_code(places[name])
        case ast.BinOp(left=left, op=ast.Pow(), right=ast.Constant(value=int() as power)):
            factor = _cpp(left, places)
            factor = code("({factor})", factor=factor) if isinstance(left, ast.BinOp) else factor
            return code("({product})", product=joined(" * ", [factor] * power))
        case ast.BinOp(left=left, op=op, right=right) if type(op) in _SIGNS:
            return _binary(left, op, right, places)
        case ast.UnaryOp(op=ast.USub(), operand=operand):
            return code("-{operand}", operand=_cpp(operand, places))
        case ast.Call(func=ast.Name(id="min" | "max" as name), args=args):
            given = joined(", ", [_cpp(arg, places) for arg in args])
            return code("{function}<int64_t>({given})", function=KNOWN[f"std::{name}"], given=given)
    raise CannotCompose(f"the size {ast.unparse(node)}")


def _binary(left: ast.expr, op: ast.operator, right: ast.expr, places: Mapping[str, str]) -> Code:
    sides = [_cpp(left, places), _cpp(right, places)]
    tight = isinstance(op, ast.Mult | ast.FloorDiv | ast.Mod)
    for position, side in enumerate((left, right)):
        loose = isinstance(side, ast.BinOp) and isinstance(side.op, ast.Add | ast.Sub)
        behind = position == 1 and isinstance(side, ast.BinOp)
        if (tight and loose) or behind:
            sides[position] = code("({side})", side=sides[position])
    return code("{a} {sign} {b}", a=sides[0], sign=_SIGNS[type(op)], b=sides[1])
