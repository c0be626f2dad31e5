"""Residues decide where both sides have them; values refute where they are far apart."""

from __future__ import annotations

import pytest
import torch

from warpwright.core.errors import Undecided
from warpwright.prove import numbers
from warpwright.prove.comparison import Agreement, Difference, compare
from warpwright.prove.numbers import Binary, Places, Unary
from warpwright.prove.tensor import LiftedTensor


def drawn(*values: float) -> Places:
    return numbers.drawn(torch.tensor(values), 7)


def both(one: Places, other: Places) -> Agreement | Difference:
    return compare([LiftedTensor(one)], [LiftedTensor(other)])


def test_equal_formulas_agree_with_the_chance_of_an_error() -> None:
    x, y = drawn(0.3, -1.7), drawn(2.5, 0.9)
    found = both(numbers.binary(Binary.ADD, x, y), numbers.binary(Binary.ADD, y, x))
    assert isinstance(found, Agreement)
    assert bool(found.decided[0].all())
    assert 0 < found.error < 1e-30


def test_the_first_different_element_is_named() -> None:
    x = drawn(0.3, -1.7, 0.4)
    changed = numbers.binary(Binary.MULTIPLY, x, numbers.read(torch.tensor([1.0, 1.000001, 1.000001])))
    found = both(changed, x)
    assert isinstance(found, Difference)
    assert (found.index, found.count) == ((1,), 2)


@pytest.mark.parametrize(
    ("operation", "constant", "said"),
    [(Binary.MULTIPLY, 1.5, "1.5 times the reference's"), (Binary.ADD, 0.25, "the reference's plus 0.25")],
)
def test_one_constant_explains_all_elements(operation: Binary, constant: float, said: str) -> None:
    x = drawn(0.3, -1.7, 0.4, 2.5)
    found = both(numbers.binary(operation, x, numbers.read(torch.tensor(constant))), x)
    assert isinstance(found, Difference)
    assert found.relation == said


def test_a_root_of_no_square_is_decided_when_both_sides_take_it() -> None:
    x = drawn(*(0.1 * i for i in range(1, 64)))
    found = both(numbers.unary(Unary.SQRT, x), numbers.unary(Unary.SQRT, x))
    assert isinstance(found, Agreement)
    assert bool(found.decided[0].all())


def test_the_square_of_a_root_is_never_contradicted() -> None:
    x = drawn(*(0.1 * i for i in range(1, 64)))
    root = numbers.unary(Unary.SQRT, x)
    found = both(numbers.binary(Binary.MULTIPLY, root, root), x)
    assert isinstance(found, Agreement)
    assert bool(found.decided[0].any())


def test_an_approximation_of_erf_is_undecided_and_a_bad_one_different() -> None:
    x = drawn(0.4, 1.1)
    erf = numbers.unary(Unary.ERF, x)
    near = numbers.read(numbers.values(erf).to(torch.float32))
    with pytest.raises(Undecided, match="approximates"):
        both(near, erf)
    far = numbers.binary(Binary.MULTIPLY, near, numbers.read(torch.tensor(1.001)))
    assert isinstance(both(far, erf), Difference)


def test_positions_that_differ_are_undecided() -> None:
    with pytest.raises(Undecided, match="ties"):
        compare([torch.tensor([1, 2])], [torch.tensor([2, 1])])
