"""Lifted numbers decide equality of formulas: rewritten formulas agree, changed ones do not."""

from __future__ import annotations

from collections.abc import Callable

import pytest
import torch

from warpwright.prove import numbers
from warpwright.prove.numbers import LEVELS, LOST, Binary, Places, Unary

Formula = Callable[[Places, Places], Places]


def residues(places: Places) -> torch.Tensor:
    return numbers.get(places)[..., 8 : 8 + 4 * LEVELS].contiguous().view(torch.int32)


def agree(first: Places, second: Places) -> bool:
    a, b = residues(first), residues(second)
    known = (a != LOST) & (b != LOST)
    return bool(known.any(-1).all()) and bool((a == b)[known].all())


def op(operation: Binary) -> Formula:
    return lambda a, b: numbers.binary(operation, a, b)


add, subtract, multiply, divide = map(op, (Binary.ADD, Binary.SUBTRACT, Binary.MULTIPLY, Binary.DIVIDE))


def exp(x: Places) -> Places:
    return numbers.unary(Unary.EXP, x)


def log(x: Places) -> Places:
    return numbers.unary(Unary.LOG, x)


def constant(value: float) -> Places:
    return numbers.read(torch.tensor(value))


@pytest.fixture
def pair() -> tuple[Places, Places]:
    return numbers.read(torch.tensor([0.731, 2.25])), numbers.read(torch.tensor([1.9, 0.113]))


@pytest.mark.parametrize(
    ("one", "other"),
    [
        (lambda a, b: multiply(exp(a), exp(b)), lambda a, b: exp(add(a, b))),
        (lambda a, b: log(exp(a)), lambda a, b: a),
        (lambda a, b: divide(a, b), lambda a, b: multiply(a, divide(constant(1.0), b))),
        (lambda a, b: multiply(subtract(a, b), add(a, b)), lambda a, b: subtract(multiply(a, a), multiply(b, b))),
    ],
)
def test_rewritten_formulas_agree(pair: tuple[Places, Places], one: Formula, other: Formula) -> None:
    assert agree(one(*pair), other(*pair))


@pytest.mark.parametrize("changed", [0.500001, 0.49999, 0.25])
def test_a_changed_constant_differs(pair: tuple[Places, Places], changed: float) -> None:
    assert not agree(multiply(pair[0], constant(0.5)), multiply(pair[0], constant(changed)))
