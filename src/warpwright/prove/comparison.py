"""Compares the lifted results of a kernel with those of the reference, element by element."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass

import torch

from warpwright.core.errors import Undecided
from warpwright.prove import numbers
from warpwright.prove.numbers import LEVELS, LOST, PRIMES
from warpwright.prove.tensor import LiftedTensor

_NEAR = 1e-9
"""Values that differ by less, in units of the tensor's scale, may differ by the rounding of doubles alone."""
_APPROXIMATION = 1e-5
"""Values that differ by less may come from an approximation that is good enough for float32."""
_FEW = 3
"""Of fewer elements a constant explains nothing."""
_OPAQUE, _LEFT, _FIRST_UP_TO_SIGN = 1, 2, 4
"""Flags of a number, as in runtime/lifted/number.h."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Difference:
    """The first element at which two formulas have different values."""

    output: int
    index: tuple[int, ...]
    value: float
    expected: float
    count: int
    """The number of elements that differ."""
    relation: str | None = None
    """What one constant explains: each differing element is so many times, or so much more than, the reference's."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Agreement:
    """No element differs."""

    decided: tuple[torch.Tensor, ...]
    """For each result, the elements that are equal; the others have no residues in common."""
    error: float
    """The chance that residues of different numbers agree, for the element with the fewest residues."""


@dataclass(frozen=True, slots=True)
class _Numbers:
    """Numbers in columns."""

    value: torch.Tensor
    residues: torch.Tensor
    flags: torch.Tensor

    @classmethod
    def of(cls, tensor: torch.Tensor) -> _Numbers:
        places = tensor.places if isinstance(tensor, LiftedTensor) else numbers.read(tensor)
        rows = numbers.get(places)
        residues = rows[..., 8 : 8 + 4 * LEVELS].contiguous().view(torch.int32)
        flags = rows[..., 8 + 4 * LEVELS : 12 + 4 * LEVELS].contiguous().view(torch.int32).squeeze(-1)
        return cls(rows[..., :8].contiguous().view(torch.float64).squeeze(-1), residues, flags)


def compare(results: Sequence[torch.Tensor], truths: Sequence[torch.Tensor]) -> Agreement | Difference:
    """Undecided says why residues cannot decide."""
    decided: list[torch.Tensor] = []
    error = 0.0
    for output, (result, truth) in enumerate(zip(results, truths, strict=True)):
        if result.shape != truth.shape:
            raise Undecided(f"result {output} has shape {tuple(result.shape)} instead of {tuple(truth.shape)}")
        if not truth.is_floating_point():
            found: Agreement | Difference = _whole(output, result, truth)
        else:
            found = _lifted(output, _Numbers.of(result), _Numbers.of(truth))
        if isinstance(found, Difference):
            return found
        decided += found.decided
        error = max(error, found.error)
    return Agreement(decided=tuple(decided), error=error)


def _whole(output: int, result: torch.Tensor, truth: torch.Tensor) -> Agreement | Difference:
    wrong = result != truth
    if bool(wrong.any()):
        raise Undecided(f"whole numbers of result {output} differ, as positions of ties may")
    return Agreement(decided=(~wrong,), error=0.0)


def _lifted(output: int, result: _Numbers, truth: _Numbers) -> Agreement | Difference:
    if bool((result.flags & _LEFT).any()):
        raise Undecided("a float leaves the lifted numbers, in host code or in a header of a library")
    known = (result.residues != LOST) & (truth.residues != LOST)
    matching = known & (result.residues == truth.residues)
    # Residues that are known up to sign speak for equality where they match, and say nothing where they do not.
    contrary = known & ~matching & ~_up_to_sign(result.flags | truth.flags)
    same = ~contrary.any(-1)
    decided = matching.any(-1) & same
    apart = _far(result.value, truth.value)
    equal = decided | _same_infinite(result.value, truth.value)
    far = ~equal & apart & ~truth.value.isnan()
    if bool((decided & _far(result.value, truth.value, _APPROXIMATION)).any()):
        raise Undecided("residues agree where values differ, as for a root of the other sign")
    if bool(far.any()):
        return _difference(output, far, result, truth)
    if bool((~equal & ~same).any()):
        raise Undecided("residues differ where values agree to nine digits: no law that residues follow covers this")
    return Agreement(decided=(equal,), error=_chance(matching[decided]))


def _up_to_sign(flags: torch.Tensor) -> torch.Tensor:
    """For each level, whether the residue is known up to sign only."""
    levels = torch.tensor([_FIRST_UP_TO_SIGN << level for level in range(LEVELS)], dtype=flags.dtype)
    return (flags[..., None] & levels) != 0


def _same_infinite(result: torch.Tensor, truth: torch.Tensor) -> torch.Tensor:
    return ~truth.isfinite() & ((result == truth) | (result.isnan() & truth.isnan()))


def _far(result: torch.Tensor, truth: torch.Tensor, near: float = _NEAR) -> torch.Tensor:
    """Whether values differ by more than rounding in doubles, or by more than `near`, explains; NaN counts as far."""
    finite = truth[truth.isfinite()].abs()
    scale = finite.mean() if finite.numel() else torch.tensor(0.0)
    return ~((result - truth).abs() <= near * torch.maximum(truth.abs(), scale))


def _difference(output: int, far: torch.Tensor, result: _Numbers, truth: _Numbers) -> Difference:
    replaced = (truth.flags & _OPAQUE & ~result.flags).bool() & far
    if bool(replaced.any()) and not bool(_far(result.value, truth.value, _APPROXIMATION).any()):
        raise Undecided("the kernel approximates a function that is not algebraic, such as erf")
    first = tuple(int(i) for i in far.nonzero()[0])
    return Difference(
        output=output,
        index=first,
        value=float(result.value[first]),
        expected=float(truth.value[first]),
        count=int(far.sum()),
        relation=_relation(result.value[far], truth.value[far]),
    )


def _relation(result: torch.Tensor, truth: torch.Tensor) -> str | None:
    """The constant that relates all differing elements, if there are several and there is one."""
    if result.numel() < _FEW or not bool((result.isfinite() & truth.isfinite()).all()):
        return None
    factor, offset = result / truth, result - truth
    if bool((factor - factor[0]).abs().max() <= _NEAR * factor[0].abs()):
        return f"{float(factor[0]):.9g} times the reference's"
    if bool((offset - offset[0]).abs().max() <= _NEAR * truth.abs().max()):
        return f"the reference's plus {float(offset[0]):.9g}"
    return None


def _chance(known: torch.Tensor) -> float:
    """The chance for the element whose known residues have the smallest product of primes."""
    if not known.numel():
        return 0.0
    sizes = (known * torch.tensor([math.log(prime) for prime in PRIMES])).sum(-1)
    return math.exp(-float(sizes.min()))
