"""arith: integers that wrap, floats that are rounded, comparisons, casts."""

from __future__ import annotations

import re
from collections.abc import Callable
from typing import TYPE_CHECKING, Any

import numpy as np

from warpwright.core.errors import Undecided
from warpwright.ttir.findings import Finding, Kind
from warpwright.ttir.numbers import Array, from_memory, kept, rounded, stored, to_memory, unsigned
from warpwright.ttir.operations.table import MEANINGS, Meaning, means
from warpwright.ttir.syntax.tree import Operation

if TYPE_CHECKING:
    from warpwright.ttir.machine import Machine

_INTEGER: dict[str, Callable[..., Any]] = {
    "addi": np.add,
    "subi": np.subtract,
    "muli": np.multiply,
    "andi": np.bitwise_and,
    "ori": np.bitwise_or,
    "xori": np.bitwise_xor,
    "maxsi": np.maximum,
    "minsi": np.minimum,
}
_UNSIGNED: dict[str, Callable[..., Any]] = {"maxui": np.maximum, "minui": np.minimum}
_DIVISIONS = {"divsi", "divui", "remsi", "remui", "floordivsi", "ceildivsi"}
_FLOAT: dict[str, Callable[..., Any]] = {
    "addf": np.add,
    "subf": np.subtract,
    "mulf": np.multiply,
    "divf": np.divide,
    "remf": np.fmod,
    "negf": np.negative,
    "maxnumf": np.fmax,
    "minnumf": np.fmin,
    "maximumf": np.maximum,
    "minimumf": np.minimum,
}
_COMPARISONS: dict[str, Callable[..., Any]] = {
    "eq": np.equal,
    "ne": np.not_equal,
    "lt": np.less,
    "le": np.less_equal,
    "gt": np.greater,
    "ge": np.greater_equal,
}
_HEX = re.compile(r"0x[0-9A-Fa-f]+$")


def _integer(function: Callable[..., Any]) -> Meaning:
    def run(machine: Machine, operation: Operation, values: list[Any]) -> Array:
        if values[0].dtype == np.bool_:
            return np.asarray(_ONE_BIT[function](*values))
        return np.asarray(function(*values))

    return run


_ONE_BIT: dict[Callable[..., Any], Callable[..., Any]] = {
    np.add: np.logical_xor,
    np.subtract: np.logical_xor,
    np.multiply: np.logical_and,
    np.bitwise_and: np.logical_and,
    np.bitwise_or: np.logical_or,
    np.bitwise_xor: np.logical_xor,
    np.maximum: np.logical_and,
    np.minimum: np.logical_or,
}


def _without_sign(function: Callable[..., Any]) -> Meaning:
    def run(machine: Machine, operation: Operation, values: list[Any]) -> Array:
        return np.asarray(function(*map(unsigned, values))).view(values[0].dtype)

    return run


def _float(function: Callable[..., Any]) -> Meaning:
    def run(machine: Machine, operation: Operation, values: list[Any]) -> Array:
        return rounded(np.asarray(function(*values)), operation.type.element)

    return run


for _name, _function in _INTEGER.items():
    MEANINGS[f"arith.{_name}"] = _integer(_function)
for _name, _function in _UNSIGNED.items():
    MEANINGS[f"arith.{_name}"] = _without_sign(_function)
for _name, _function in _FLOAT.items():
    MEANINGS[f"arith.{_name}"] = _float(_function)
MEANINGS["tt.precise_divf"] = MEANINGS["tt.approx_divf"] = _float(np.divide)


@means(*(f"arith.{name}" for name in _DIVISIONS))
def _divide(machine: Machine, operation: Operation, values: list[Any]) -> Array:
    """Quotients go towards zero. Division by zero in a program that runs is a finding."""
    name = operation.name.removeprefix("arith.")
    left, right = values if name.endswith("si") else map(unsigned, values)
    zero = right == 0
    if zero.any():
        right = np.where(zero, right.dtype.type(1), right)
        if machine.lanes(zero).any():
            _report_division(machine, operation, zero)
    if name.startswith("rem"):
        return np.asarray(np.fmod(left, right)).view(values[0].dtype)
    floor = np.floor_divide(left, right)
    if name == "divsi":
        floor = floor + ((floor < 0) & (floor * right != left)).astype(floor.dtype)
    elif name == "ceildivsi":
        floor = floor + (floor * right != left).astype(floor.dtype)
    return np.asarray(floor).view(values[0].dtype)


def _report_division(machine: Machine, operation: Operation, zero: Array) -> None:
    """A lane that is masked later may divide by zero without harm, so only scalars count."""
    if operation.type.shape:
        return
    spot = machine.first_program(zero)
    machine.findings.add(
        Kind.DIVISION,
        operation.line,
        1,
        lambda: Finding(kind=Kind.DIVISION, message="an integer is divided by zero", line=operation.line, program=spot),
    )


@means("arith.shli", "arith.shrsi", "arith.shrui")
def _shift(machine: Machine, operation: Operation, values: list[Any]) -> Array:
    """By the width or more, nothing or the sign remains."""
    value, by = values
    width = value.dtype.itemsize * 8
    over = unsigned(by) >= width
    by = np.where(over, by.dtype.type(0), by)
    if operation.name == "arith.shli":
        return np.where(over, value.dtype.type(0), np.left_shift(value, by))
    if operation.name == "arith.shrui":
        return np.where(over, value.dtype.type(0), np.right_shift(unsigned(value), unsigned(by)).view(value.dtype))
    return np.where(over, np.right_shift(value, value.dtype.type(width - 1)), np.right_shift(value, by))


@means("arith.cmpi")
def _compare_integers(machine: Machine, operation: Operation, values: list[Any]) -> Array:
    word = operation.words[0]
    if word[0] == "u" and len(word) == 3:
        values = [unsigned(value) for value in values]
    elif values[0].dtype == np.bool_ and len(word) == 3:
        values = [-value.astype(np.int8) for value in values]
    return np.asarray(_COMPARISONS[word[-2:]](*values))


@means("arith.cmpf")
def _compare_floats(machine: Machine, operation: Operation, values: list[Any]) -> Array:
    word = operation.words[0]
    left, right = values
    if word in ("true", "false"):
        return np.full_like(left, word == "true", dtype=np.bool_)
    unordered = np.isnan(left) | np.isnan(right)
    if word in ("ord", "uno"):
        return np.asarray(unordered if word == "uno" else ~unordered)
    found = _COMPARISONS[word[1:]](left, right)
    return np.asarray(found | unordered if word[0] == "u" else found & ~unordered)


@means("arith.select")
def _select(machine: Machine, operation: Operation, values: list[Any]) -> Any:
    return machine.merge(values[0], values[1], values[2])


@means("arith.constant")
def _constant(machine: Machine, operation: Operation, values: list[Any]) -> Array:
    """A literal; a tensor of equal elements stays one element."""
    literal, kind = operation.words[0], operation.type
    if not literal.startswith("dense<"):
        return np.full((1,) + (1,) * len(kind.shape), literal_value(literal, kind.element))
    inner = literal[len("dense<") : -1]
    if "[" not in inner:
        if inner.startswith('"'):
            return _from_hex(inner.strip('"'), kind.element).reshape(1, *kind.shape)
        return np.full((1,) + (1,) * len(kind.shape), literal_value(inner, kind.element))
    items = [literal_value(item.strip(), kind.element) for item in re.split(r",", re.sub(r"[\[\]]", "", inner))]
    return np.array(items).reshape(1, *kind.shape)


def literal_value(text: str, element: str) -> Any:
    """One number, as numpy keeps its type; bits in hexadecimal are those of the type."""
    kind = kept(element)
    if text in ("true", "false"):
        return kind(text == "true")
    if not element.startswith("i") and _HEX.match(text):
        return _of_bits(int(text, 16), element)
    if kind in (np.float16, np.float32, np.float64):
        return rounded(np.array([float(text)]), element)[0]
    if _HEX.match(text) or element.startswith("i"):
        return np.array([int(text, 0) & (1 << 64) - 1], np.uint64).astype(kind)[0]
    raise Undecided(f"unsupported: the constant {text} of type {element}")


def _of_bits(bits: int, element: str) -> Any:
    whole = np.array([bits], np.uint64).astype(f"u{stored(element).itemsize}")
    return from_memory(whole.view(stored(element)), element)[0]


def _from_hex(text: str, element: str) -> Array:
    return from_memory(np.frombuffer(bytes.fromhex(text.removeprefix("0x")), stored(element)), element)


# Casts


@means("arith.extsi", "arith.extui", "arith.trunci", "arith.index_cast", "arith.index_castui")
def _resize(machine: Machine, operation: Operation, values: list[Any]) -> Array:
    value, kind = values[0], kept(operation.given[0].element if operation.given else operation.taken[-1].element)
    if kind is np.bool_:
        return np.asarray(value & 1).astype(np.bool_)
    if operation.name in ("arith.extui", "arith.index_castui"):
        return np.asarray(unsigned(value).astype(kind))
    if value.dtype == np.bool_:
        return np.asarray(-value.astype(kind))
    return np.asarray(value.astype(kind))


@means("arith.sitofp", "arith.uitofp")
def _to_float(machine: Machine, operation: Operation, values: list[Any]) -> Array:
    value = values[0] if operation.name == "arith.sitofp" else unsigned(values[0])
    if value.dtype == np.bool_ and operation.name == "arith.sitofp":
        value = -value.astype(np.int8)
    return rounded(value if operation.taken[-1].element != "bf16" else value.astype(np.float32), _target(operation))


@means("arith.fptosi", "arith.fptoui")
def _to_integer(machine: Machine, operation: Operation, values: list[Any]) -> Array:
    """Towards zero; what does not fit becomes the nearest number that does, and NaN becomes zero."""
    kind = np.dtype(kept(_target(operation)))
    if kind == np.bool_:
        return np.asarray(values[0] != 0)
    limits = np.iinfo(kind if operation.name == "arith.fptosi" else np.dtype(f"u{kind.itemsize}"))
    whole = np.trunc(np.nan_to_num(values[0].astype(np.float64), nan=0.0, posinf=np.inf, neginf=-np.inf))
    high, low = whole >= float(limits.max), whole <= float(limits.min)
    inner = np.where(high | low, 0.0, whole).astype(limits.dtype)
    return np.where(high, limits.max, np.where(low, limits.min, inner)).astype(limits.dtype).view(kind)


@means("arith.truncf", "arith.extf", "tt.fp_to_fp")
def _to_other_float(machine: Machine, operation: Operation, values: list[Any]) -> Array:
    if "rtz" in operation.words:
        return _towards_zero(values[0], _target(operation))
    return rounded(values[0], _target(operation))


def _towards_zero(value: Array, element: str) -> Array:
    """Round, then step back where that went away from zero."""
    if element not in ("f16", "bf16"):
        raise Undecided(f"unsupported: rounding towards zero to {element}")
    near = rounded(value, element)
    bits = np.uint16(1) if element == "f16" else np.uint32(1 << 16)
    back = (near.view(bits.dtype) - bits).view(near.dtype)
    return np.where(np.abs(near.astype(np.float64)) > np.abs(value), back, near)


@means("tt.bitcast", "arith.bitcast")
def _bitcast(machine: Machine, operation: Operation, values: list[Any]) -> Array:
    source, target = operation.taken[0].element, _target(operation)
    if source == target or "ptr" in (source, target):
        return np.asarray(values[0])
    return from_memory(to_memory(np.ascontiguousarray(values[0]), source).view(stored(target)), target)


@means("tt.ptr_to_int", "tt.int_to_ptr")
def _pointer_cast(machine: Machine, operation: Operation, values: list[Any]) -> Array:
    return np.asarray(values[0].astype(np.int64))


@means("tt.mulhiui", "math.umulhi")
def _high_product(machine: Machine, operation: Operation, values: list[Any]) -> Array:
    left, right = map(unsigned, values)
    if left.dtype == np.uint32:
        return (left.astype(np.uint64) * right >> np.uint64(32)).astype(np.uint32).view(np.int32)
    low, half = np.uint64(0xFFFFFFFF), np.uint64(32)
    a, b, c, d = left >> half, left & low, right >> half, right & low
    middle = a * d + (b * d >> half)
    other = b * c + (middle & low)
    return (a * c + (middle >> half) + (other >> half)).view(np.int64)


def _target(operation: Operation) -> str:
    return operation.given[0].element if operation.given else operation.taken[-1].element
