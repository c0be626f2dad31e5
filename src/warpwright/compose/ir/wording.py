"""Names values: as in the reference, or descriptively."""

from __future__ import annotations

from collections.abc import Iterator

from warpwright.compose.ir.naming import CALLED, WORDS
from warpwright.compose.ir.operations import Argument, LibraryCall, Op
from warpwright.compose.ir.values import Graph, Value, under_views

LONGEST = 28
"""The longest useful name."""
POWERS = {2: "squared", 3: "cubed"}


def called(graph: Graph, value: Value) -> str:
    if value.number in graph.names:
        return graph.names[value.number]
    if isinstance(value.attrs, LibraryCall):
        return CALLED.get(value.attrs.routine, "product")
    return _in_words(graph, value) or WORDS.get(value.op, value.op)


def _in_words(graph: Graph, value: Value) -> str | None:
    """A name derived from the operands, if they have names and the result is short."""
    found = None
    if _is_mean(value):
        found = "mean"
    elif value.op is Op.MUL:
        found = _product(graph, value)
    elif value.op is Op.SUM:
        found = _sum(graph, value)
    elif value.op is Op.ADD and any(map(_is_log_of_sum, value.args)):
        found = "logsumexp"
    return found if found and len(found) <= LONGEST else None


def _product(graph: Graph, value: Value) -> str | None:
    factors = [factor for arg in value.args for factor in _factors(graph, arg)]
    one, other = (_own_name(graph, factor) for factor in value.args)
    if len(set(factors)) == 1 and (name := _own_name(graph, factors[0])):
        return f"{name}_{POWERS[len(factors)]}" if len(factors) in POWERS else None
    if one and _is_two(value.args[1]):
        return f"twice_{one}"
    if one and other:
        return f"{one}_times_{other}"
    return "scaled" if any(arg.op is Op.BROADCAST for arg in value.args) else None


def _factors(graph: Graph, value: Value) -> Iterator[Value]:
    """Yields the factors of a product; of unnamed factors, their factors."""
    value = under_views(value)
    if value.op is not Op.MUL or _own_name(graph, value):
        yield value
        return
    for arg in value.args:
        yield from _factors(graph, arg)


def _sum(graph: Graph, value: Value) -> str | None:
    """Sums of sums are called as those are."""
    term = under_views(value.first)
    words = _own_name(graph, term) or _in_words(graph, term)
    return f"sum_of_{words}" if words and term.op is not Op.SUM else words


def _own_name(graph: Graph, value: Value) -> str | None:
    """The value's given name, not a derived one."""
    value = under_views(value)
    return value.attrs.name if isinstance(value.attrs, Argument) else graph.names.get(value.number)


def _is_log_of_sum(value: Value) -> bool:
    value = under_views(value)
    return value.op is Op.LOG and under_views(value.first).op is Op.SUM


def _is_two(value: Value) -> bool:
    return under_views(value).is_constant(2)


def _is_mean(value: Value) -> bool:
    """A sum that is divided by a size."""
    if value.op is not Op.DIV:
        return False
    total, count = map(under_views, value.args)
    count = count.first if count.op is Op.TO_FLOAT else count
    return total.op in (Op.SUM, Op.COLUMNS) and count.op in (Op.CONSTANT, Op.SIZE)
