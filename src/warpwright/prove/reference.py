"""The reference in lifted numbers: what a lifted kernel is compared with.

Inputs are the oracle's; a random number stands for each of them. Equal inputs stand for equal numbers and zero for
zero, so that ties and masks stay what they are. Constants, such as a module's tables and scalars, are read.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from typing import Any

import torch
from torch.nn.attention import SDPBackend, sdpa_kernel

from warpwright.core.errors import Undecided, WarpwrightError
from warpwright.core.signature import tensors
from warpwright.core.task import Draw, Task, TensorArg
from warpwright.oracle.inputs.arguments import forward_inputs, gradient_inputs
from warpwright.oracle.truth.expected import Scenario
from warpwright.oracle.truth.reference import Tensors, evaluate, function, saved
from warpwright.prove import numbers
from warpwright.prove.lifting import Lifting
from warpwright.prove.tensor import LiftedTensor, is_floating, lifted

_ATTEMPTS, _WORK = 40, 3_000_000
"""How often inputs are drawn, and how many numbers that may take."""


def scenario(task: Task, draw: Draw) -> Scenario:
    """The inputs of a draw in lifted numbers, with the tensors that the reference saves of them.

    Half of the residues have no root and no exact logarithm, so that hardly any sum over such would be known: inputs
    are drawn anew until the reference's own exist. All earlier numbers are forgotten.
    """
    numbers.forget_draws()
    attempts = _ATTEMPTS
    while attempts:
        given, work = _tried(task, draw)
        if not numbers.draw_again():
            return given
        attempts = min(attempts - 1, _WORK // work)
    numbers.draw_best()
    return _tried(task, draw)[0]


def _tried(task: Task, draw: Draw) -> tuple[Scenario, int]:
    """Draws inputs, and tells how many numbers it takes to evaluate the reference on them."""
    numbers.clear()
    given = _drawn_scenario(task, draw)
    drawn = numbers.held()
    results(task, draw, given)
    work = numbers.held()
    numbers.keep(drawn)
    return given, work


def _drawn_scenario(task: Task, draw: Draw) -> Scenario:
    given = zip(task.arguments, forward_inputs(task, draw), strict=True)
    arguments = [_lifted_argument(argument, value, draw.seed) for argument, value in given]
    gradients = [_drawn(gradient, draw.seed) for gradient in gradient_inputs(task, draw)]
    with _lifting(task):
        kept = saved(task, arguments)
    specs = tensors(draw.case, task.saves) if kept else ()
    saves = [tensor.contiguous() for tensor, _ in zip(kept, specs, strict=True)]
    return Scenario(arguments=arguments, gradients=gradients, saves=saves)


def results(task: Task, draw: Draw, given: Scenario, name: str | None = None) -> Tensors:
    """Evaluates all compared tensors of the reference, or of another function of its file by name.

    Floating ones are lifted, other ones are ordinary tensors.
    """
    fresh = given.copy()
    with _lifting(task):
        called = function(task.reference, name)
        return evaluate(task, draw.case, called, fresh.arguments, fresh.gradients, fresh.saves)


def _lifted_argument(argument: Any, value: Any, seed: int) -> Any:
    """Scalars become tensors, so that what a reference computes of them is exact."""
    if not isinstance(argument, TensorArg):
        return LiftedTensor(lifted(value)) if isinstance(value, float) else value
    if argument.init == "constructed":
        return LiftedTensor(lifted(value), value.dtype) if is_floating(value) else value
    return [_drawn(item, seed) for item in value] if isinstance(value, Sequence) else _drawn(value, seed)


def _drawn(value: torch.Tensor, seed: int) -> torch.Tensor:
    """Numbers for inputs, in their layout: an expanded tensor has few."""
    if not is_floating(value):
        return value
    held = value[tuple(slice(None) if step else slice(1) for step in value.stride())]
    places = torch.empty_strided(held.shape, held.stride(), dtype=torch.int64).copy_(numbers.drawn(held, seed))
    return LiftedTensor(places.expand(value.shape), value.dtype)


@contextmanager
def _lifting(task: Task) -> Iterator[None]:
    """Computes in lifted numbers. What a reference cannot do with them is unsupported, for it can with others."""
    try:
        with sdpa_kernel(SDPBackend.MATH), Lifting():  # type: ignore[no-untyped-call]
            yield
    except WarpwrightError:
        raise
    except Exception as error:
        said = (str(error).splitlines() or [""])[0]
        raise Undecided(f"unsupported in lifted numbers: {task.key} raises {type(error).__name__}: {said}") from error
