"""References in lifted numbers: the doubles are the oracle's truth, and honest rewrites have the same residues."""

from __future__ import annotations

from functools import cache

import pytest
import torch

from warpwright.core.calls import elements
from warpwright.core.task import Case, Direction, Draw, Role, Task
from warpwright.oracle.truth.expected import exact_results
from warpwright.oracle.truth.expected import scenario as plain_scenario
from warpwright.prove import numbers, reference
from warpwright.prove.numbers import LEVELS, LOST
from warpwright.prove.tensor import LiftedTensor, values_of
from warpwright.tasks import all_tasks

_SIZE = 400
"""About how many elements a case should have."""
_SEEDS = 3
_COMPLEX = {"complex_product", "one_by_one"}
"""Variants that compute with complex numbers, which are not lifted."""


@cache
def tasks() -> dict[str, Task]:
    return {task.key: task for task in all_tasks()}


def small(task: Task) -> Case:
    cases = [case for case in task.cases_of(Role.CHECK) if case.dtype == "fp32"]
    return min(cases, key=lambda case: abs(elements(task, case) - _SIZE))


def residues(tensor: torch.Tensor) -> torch.Tensor:
    assert isinstance(tensor, LiftedTensor)
    rows = numbers.get(tensor.places)[..., 8 : 8 + 4 * LEVELS].contiguous()
    return rows.view(torch.int32)


@pytest.mark.parametrize("key", sorted(tasks()))
def test_doubles_are_the_truth(key: str) -> None:
    task = tasks()[key]
    draw = Draw(case=small(task), distribution=task.distributions[0], seed=1)
    found = reference.results(task, draw, reference.scenario(task, draw))
    expected = exact_results(task, draw, plain_scenario(task, draw))
    for one, other in zip(found, expected, strict=True):
        torch.testing.assert_close(values_of(one).to(other.dtype), other, rtol=1e-6, atol=1e-6)
    numbers.clear()


def rewrites() -> list[tuple[str, str]]:
    """Variants of functions whose gradients, if any, are those of autograd."""
    return [
        (key, name)
        for key, task in sorted(tasks().items())
        for name in task.variants
        if name not in _COMPLEX and not name.startswith("backward")
        if task.direction is not Direction.BACKWARD or task.reference.backward is None
    ]


@pytest.mark.parametrize(("key", "variant"), rewrites())
def test_honest_variants_have_the_same_residues(key: str, variant: str) -> None:
    task = tasks()[key]
    for seed in range(_SEEDS):
        draw = Draw(case=small(task), distribution=task.distributions[0], seed=seed)
        given = reference.scenario(task, draw)
        pairs = zip(reference.results(task, draw, given), reference.results(task, draw, given, variant), strict=True)
        for one, other in pairs:
            same_residues(one, other)
        numbers.clear()


def same_residues(one: torch.Tensor, other: torch.Tensor) -> None:
    """Where both formulas have residues, they are equal."""
    if isinstance(one, LiftedTensor):
        first, second = residues(one), residues(other)
        known = (first != LOST) & (second != LOST)
        assert torch.equal(first[known], second[known])


@pytest.mark.parametrize("key", ["paper/layernorm:backward", "modern/cross_entropy:training", "modern/adamw:forward"])
def test_inputs_are_drawn_until_roots_and_logarithms_exist(key: str) -> None:
    """Sums over rows, each with a root or logarithm, would hardly ever have residues."""
    task = tasks()[key]
    draw = Draw(case=small(task), distribution=task.distributions[0], seed=1)
    for tensor in reference.results(task, draw, reference.scenario(task, draw)):
        assert bool((residues(tensor) != LOST).any(-1).all())
    numbers.clear()


def test_equal_inputs_stand_for_equal_numbers_and_opposite_ones_for_opposite() -> None:
    places = numbers.drawn(torch.tensor([0.3, -0.3, 0.3, 0.0]), seed=5)
    rows = residues(LiftedTensor(places))
    primes = torch.tensor(numbers.PRIMES, dtype=torch.int32)
    assert torch.equal(rows[0], rows[2])
    assert torch.equal(rows[1], primes - rows[0])
    assert int(places[3]) == 0
