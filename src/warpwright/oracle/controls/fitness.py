"""Whether a task can tell right from wrong at all: the few questions that are asked before every check.

Admission, which is thorough, asks many more and takes minutes.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Any

import torch

from warpwright.core.calls import elements
from warpwright.oracle.compare.results import check_results, same_bits
from warpwright.oracle.controls.honest import Widened, variants
from warpwright.oracle.controls.wrong import Prepared, rounded
from warpwright.oracle.truth.modes import Mode
from warpwright.oracle.truth.reference import Tensors, evaluate, function

_RANDOM = ("dropout", "bernoulli", "rand", "normal_", "uniform_", "multinomial", "exponential_", "poisson")
_REMEDY = "put the module into eval mode, pass training=False, or seed a generator inside the function"


def unfitness(prepared: Sequence[Prepared]) -> str | None:
    """Returns why no verdict of a task would mean anything, given draws of its first distribution; None if it may."""
    return next(_problems(prepared), None)


def refuted_honest(at: Prepared) -> str | None:
    """Returns which honest implementation the draw refutes, and where; None if it refutes none."""
    found = ((name, check_results(at.expected, compute(at))) for name, compute in variants(at.task))
    where = f"case {at.draw.case.name}, distribution {at.draw.distribution}"
    return next((f"{name} in {where}: {mismatch.message}" for name, mismatch in found if mismatch), None)


def _problems(prepared: Sequence[Prepared]) -> Iterator[str]:
    smallest = min(prepared, key=lambda at: elements(at.task, at.draw.case))
    random, runs = _twice(smallest)
    if not all(map(same_bits, *runs)):
        said = f"draws random numbers ({random[0]})" if random else "is not deterministic"
        yield f"the reference {said}: the same inputs gave two different results; {_REMEDY}"
    if not any(bool(item.value.isfinite().any()) for at in prepared for item in at.expected):
        yield "the reference gives no finite number on any inputs; give it inputs that it is defined for"
    yield from _accepted_cheats(prepared)
    yield from (f"the task refutes torch's own answer: {why}" for at in prepared if (why := refuted_honest(at)))


def _twice(at: Prepared) -> tuple[list[str], tuple[Tensors, Tensors]]:
    """Runs the reference twice; also names the operations of the first run that draw random numbers."""
    heard: list[str] = []
    with _Listening(heard):
        first = _plain(at)
    return heard, (first, _plain(at))


def _plain(at: Prepared) -> Tensors:
    """Torch's own answer; in fp32 where torch on a CPU has no operation for 16 bits."""
    fresh = at.given.copy()
    called = function(at.task.reference)
    with Widened():
        return evaluate(at.task, at.draw.case, called, fresh.arguments, fresh.gradients, fresh.saves)


def _accepted_cheats(prepared: Sequence[Prepared]) -> Iterator[str]:
    """Names zeros and the negative of a result if every draw accepts them and the truth is not zero."""
    for number, wanted in enumerate(prepared[0].expected):
        is_zero = not any(bool(at.expected[number].value.any()) for at in prepared)
        is_signed = wanted.value.is_floating_point() or wanted.value.dtype in (torch.int8, torch.int32, torch.int64)
        for name, sign in (("zeros", 0), ("the negative", -1)) if is_signed and not is_zero else ():
            if all(_accepts(at, number, sign) for at in prepared):
                yield f"{name} would be accepted for {wanted.name}, because its error budget exceeds its values"


def _accepts(at: Prepared, number: int, sign: int) -> bool:
    results = [rounded(item.value, item) for item in at.expected]
    results[number] = (results[number].to(torch.float64) * sign).to(results[number].dtype)
    return check_results(at.expected, results) is None


class _Listening(Mode):
    """Notes the operations that draw random numbers."""

    def __init__(self, heard: list[str]) -> None:
        super().__init__()
        self._heard = heard

    def __torch_dispatch__(self, func: Any, types: Any, args: Any = (), kwargs: Any = None) -> Any:
        name = func.overloadpacket.__name__
        if any(word in name for word in _RANDOM):
            self._heard.append(name)
        return func(*args, **(kwargs or {}))
