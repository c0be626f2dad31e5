"""Arithmetic over named sizes, as written in task.toml: "2*M*N*K", "ceil(N/16)*e".

A formula is parsed to a syntax tree and evaluated by walking it, never by eval, so that a task file cannot run code.
"""

from __future__ import annotations

import ast
import math
import operator
from collections.abc import Callable, Mapping

from warpwright.core.errors import UsageError

Number = int | float
LARGEST = 1e100
"""An upper bound of all values, so that a tower of powers cannot exhaust memory."""

_BINARY: dict[type[ast.operator], Callable[[Number, Number], Number]] = {
    ast.Add: operator.add,
    ast.Sub: operator.sub,
    ast.Mult: operator.mul,
    ast.Div: operator.truediv,
    ast.FloorDiv: operator.floordiv,
    ast.Mod: operator.mod,
    ast.Pow: operator.pow,
}
_FUNCTIONS: dict[str, Callable[..., Number]] = {"min": min, "max": max, "ceil": math.ceil, "floor": math.floor}


def evaluate(formula: str | Number, names: Mapping[str, Number]) -> Number:
    """Evaluates a formula; an unknown name or a forbidden construct is a UsageError."""
    if not isinstance(formula, str):
        return formula
    try:
        return _walk(ast.parse(formula, mode="eval").body, names)
    except (SyntaxError, ValueError, RecursionError, MemoryError) as error:
        raise UsageError(f"'{formula}' is not a formula: {error}") from None
    except (ZeroDivisionError, OverflowError, TypeError) as error:
        raise UsageError(f"'{formula}' cannot be computed: {error}") from None


def evaluate_size(formula: str | Number, names: Mapping[str, Number]) -> int:
    """Evaluates a formula whose value must be a whole number of at least zero."""
    value = evaluate(formula, names)
    if not 0 <= value < 2**63 or value != int(value):
        raise UsageError(f"'{formula}' gives {value}, which is not a size")
    return int(value)


def names_in(formula: str | Number) -> frozenset[str]:
    """Returns the names in a formula."""
    if not isinstance(formula, str):
        return frozenset()
    try:
        tree = ast.parse(formula, mode="eval")
    except (SyntaxError, ValueError, RecursionError, MemoryError) as error:
        raise UsageError(f"'{formula:.60}' is not a formula: {error}") from None
    return frozenset(node.id for node in ast.walk(tree) if isinstance(node, ast.Name)) - _FUNCTIONS.keys()


def _walk(node: ast.expr, names: Mapping[str, Number]) -> Number:
    match node:
        case ast.Constant(value=int() | float() as value):
            return value
        case ast.Name(id=name):
            if name not in names:
                raise UsageError(f"unknown size '{name}'; known here: {', '.join(sorted(names))}")
            return names[name]
        case ast.UnaryOp(op=ast.USub(), operand=operand):
            return -_walk(operand, names)
        case ast.BinOp(left=left, op=op, right=right) if type(op) in _BINARY:
            return _binary(type(op), _walk(left, names), _walk(right, names))
        case ast.Call(func=ast.Name(id=name), args=args, keywords=[]) if name in _FUNCTIONS:
            return _FUNCTIONS[name](*[_walk(arg, names) for arg in args])
    raise UsageError(f"'{ast.unparse(node)}' is not allowed in a formula")


def _binary(op: type[ast.operator], left: Number, right: Number) -> Number:
    if op is ast.Pow and abs(right) > 16:
        raise UsageError(f"the power {right} is too large for a formula")
    value = _BINARY[op](left, right)
    if isinstance(value, complex) or not abs(value) < LARGEST:
        raise UsageError("a formula went out of range")
    return value
