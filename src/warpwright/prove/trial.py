"""Decides a case: evaluates both formulas on each draw and compares them."""

from __future__ import annotations

from collections.abc import Iterable, Sequence

import torch

from warpwright.core.errors import Undecided
from warpwright.core.records.evidence import Counterexample
from warpwright.core.task import Case, Draw, Role
from warpwright.oracle.truth.expected import compared_tensors
from warpwright.prove import numbers, reference
from warpwright.prove.comparison import Agreement, Difference, compare
from warpwright.prove.device import Device
from warpwright.prove.proof import CaseProof, Grade
from warpwright.seal.capture.trace import BadTrace

_SAME = 1e-6
"""Two runs whose values differ by less show the same difference."""
_OTHER_NAMES = 1000
_LEAST_DRAWS = 2
_OPEN = "a result has no residues: it is a function of functions, or of bits, that residues do not follow"


def proved(device: Device, case: Case, draws: Iterable[Draw]) -> CaseProof:
    """The finding on a case: the first difference, else EQUAL once every element was decided in some draw."""
    agreements: list[Agreement] = []
    for number, draw in enumerate(draws):
        if number >= _LEAST_DRAWS and _is_decided(agreements):
            break
        try:
            found = _compared(device, draw)
        except (Undecided, BadTrace) as why:
            return _unsupported(case, str(why))
        finally:
            numbers.clear()
        if isinstance(found, Counterexample) and case.role is Role.ENVELOPE:
            return _unsupported(case, f"at a size that was not asked for, {found.message}")
        if isinstance(found, Counterexample):
            return CaseProof(case=case.name, grade=Grade.DIFFERENT, counterexample=found, dims=case.dims)
        agreements.append(found)
    return _equal(case, agreements) if _is_decided(agreements) else _unsupported(case, _OPEN)


def _is_decided(agreements: Sequence[Agreement]) -> bool:
    """Whether every element was decided: the root of a number that is no square has residues in other draws."""
    by_result = zip(*(agreement.decided for agreement in agreements), strict=True)
    return all(bool(torch.stack(list(masks)).any(0).all()) for masks in by_result)


def _unsupported(case: Case, reason: str) -> CaseProof:
    return CaseProof(case=case.name, grade=Grade.UNSUPPORTED, reason=reason, dims=case.dims)


def _equal(case: Case, agreements: Sequence[Agreement]) -> CaseProof:
    return CaseProof(
        case=case.name,
        grade=Grade.EQUAL,
        draws=len(agreements),
        elements=sum(mask.numel() for mask in agreements[0].decided),
        error=max(item.error for item in agreements),
        dims=case.dims,
    )


def _compared(device: Device, draw: Draw) -> Agreement | Counterexample:
    given = reference.scenario(device.task, draw)
    truths = reference.results(device.task, draw, given)
    found = compare(device.results(draw, given), truths)
    if isinstance(found, Agreement):
        return found
    again = compare(device.results(draw, given, _OTHER_NAMES), truths)
    if not isinstance(again, Difference) or not _is_same(found, again):
        raise Undecided("the result depends on the bits of floats")
    return _counterexample(device, draw, found)


def _is_same(one: Difference, other: Difference) -> bool:
    if (one.output, one.index) != (other.output, other.index):
        return False
    return one.value == other.value or abs(one.value - other.value) <= _SAME * abs(one.value)


def _counterexample(device: Device, draw: Draw, found: Difference) -> Counterexample:
    spec, _ = compared_tensors(device.task, draw.case)[found.output]
    place = f"{spec.name}[{', '.join(map(str, found.index))}]"
    apart = abs(found.value - found.expected) / max(abs(found.expected), 1e-300)
    each = f"; each is {found.relation}" if found.relation else ""
    message = (
        f"{place} is {found.value!r} in exact arithmetic and the reference's is {found.expected!r}"
        f" ({apart:.1e} apart; {found.count} elements differ{each})"
    )
    facts = {
        "distribution": draw.distribution,
        "seed": draw.seed,
        "dims": dict(draw.case.dims),
        "dtype": draw.case.dtype,
        "element": list(found.index),
        "value": found.value,
        "expected": found.expected,
        "relation": found.relation,
    }
    return Counterexample(kind="formula", message=message, case=draw.case.name, facts=facts)
