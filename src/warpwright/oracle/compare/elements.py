"""Whether a tensor is correct. Every test is positive, so that only values shown to be correct pass; NaN never does."""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from types import EllipsisType
from typing import Any

import torch

from warpwright.core.dtypes import dtype_named
from warpwright.core.task import Compare
from warpwright.oracle.compare.explain import where_wrong
from warpwright.oracle.inputs.arguments import torch_dtype
from warpwright.oracle.truth.expected import Expected, row_blocks

WORST = 14.0  # largest deviation of any element, in units of the honest spread
TYPICAL = 5.0  # largest RMS deviation of a row, in the same units
_SEEN_OF_MOVED = 4  # whole numbers that honest runs move, for each one beside them that a result may move
_FAR = 0.75  # the share of moved whole numbers that honest runs move no further than a result may go beyond them
_ENOUGH = 64  # elements that give a typical spread
_FEW = 4  # with so few errors, their RMS says no more than the worst of them


@dataclass(frozen=True, slots=True, kw_only=True)
class Mismatch:
    """One way in which a result is wrong."""

    output: str
    kind: str
    message: str
    facts: Mapping[str, Any] = field(default_factory=dict)


def compare(expected: Expected, actual: torch.Tensor) -> Mismatch | None:
    """Compares a tensor with its expected values; None if it is correct."""
    if found := _form(expected, actual):
        return found
    for rows in row_blocks(expected.value):
        if found := _content(_block(expected, rows), actual.detach()[rows]):
            return in_rows(found, rows) if isinstance(rows, slice) else found
    return None


def in_rows(mismatch: Mismatch, rows: slice) -> Mismatch:
    """Tells which rows were compared: positions in the message count from the first of them."""
    where = f"in rows {rows.start} to {rows.stop - 1}"
    return replace(mismatch, message=f"{mismatch.message} ({where})", facts={**mismatch.facts, "in_rows": where})


def _block(expected: Expected, rows: slice | EllipsisType) -> Expected:
    if not isinstance(rows, slice):
        return expected
    return replace(
        expected,
        value=expected.value[rows],
        spread=None if expected.spread is None else expected.spread[rows],
        choices=None if expected.choices is None else expected.choices[rows],
        honest=None if expected.honest is None else expected.honest[:, rows],
    )


def _form(expected: Expected, actual: torch.Tensor) -> Mismatch | None:
    spec = expected.spec
    if tuple(actual.shape) != spec.shape:
        return _mismatch(expected, "shape", f"shape {tuple(actual.shape)}, expected {spec.shape}")
    if actual.dtype is not torch_dtype(spec.dtype):
        return _mismatch(expected, "dtype", f"dtype {actual.dtype}, expected {torch_dtype(spec.dtype)}")
    found = [stride for stride, size in zip(actual.stride(), spec.shape, strict=True) if size > 1]
    wanted = [stride for stride, size in zip(spec.stride, spec.shape, strict=True) if size > 1]
    if spec.numel and found != wanted:
        return _mismatch(expected, "stride", f"strides {actual.stride()}, expected {spec.stride}")
    return None


def _content(expected: Expected, actual: torch.Tensor) -> Mismatch | None:
    if not actual.numel():
        return None
    if expected.compare is Compare.INDEX:
        return _indices(expected, actual)
    if expected.compare is Compare.EXACT or expected.spread is None:
        both_nan = actual.isnan() & expected.value.isnan()
        return _element_wise(
            expected, "value", actual, (actual == expected.value) | both_nan | _is_honest(expected, actual)
        )
    return _values(expected, actual.to(torch.float64), expected.value, expected.spread)


def _is_honest(expected: Expected, actual: torch.Tensor) -> torch.Tensor:
    """Whether a value equals that of an honest run; 8-bit integers may lie between the smallest and the largest."""
    runs = expected.honest
    if runs is None:
        return torch.zeros_like(actual, dtype=torch.bool)
    if actual.dtype not in (torch.int8, torch.uint8):
        return (actual.unsqueeze(0) == runs).any(0)
    low, high, wide = runs.amin(0), runs.amax(0), actual.to(torch.int16)
    inside = (actual >= low) & (actual <= high)
    moved = (high.to(torch.int16) - low)[low < high]
    reach = math.ceil(moved.float().quantile(_FAR)) if moved.numel() else 0
    beside = (wide >= low.to(torch.int16) - reach) & (wide <= high.to(torch.int16) + reach)
    # Few runs miss some of the places to which roundings may move an element, but not most of them.
    few = (~inside).sum() <= max(moved.numel() / _SEEN_OF_MOVED, moved.numel() > 0)
    return beside if bool(few) else inside


def _values(expected: Expected, actual: torch.Tensor, exact: torch.Tensor, spread: torch.Tensor) -> Mismatch | None:
    dtype = dtype_named(expected.spec.dtype)
    rounded = exact.to(torch_dtype(dtype.name)).to(torch.float64)
    step = _unit_in_last_place(rounded, dtype.name)
    claims = _claims(spread, rounded, expected.partial)
    budget = WORST * expected.slack * claims + step
    same_class = _same_class(rounded, actual, exact, budget, dtype.name)
    if found := _element_wise(expected, "class", actual, same_class):
        return found
    limit = torch.finfo(torch_dtype(dtype.name)).max
    target = exact.clamp(-limit, limit)
    error = torch.where(actual.isfinite(), (actual - target).abs(), 0.0)
    if dtype.quantised:  # rounding to the nearest value is the operation's purpose; only the excess counts as error
        error = (error - step / 2).clamp_min(0.0)
        budget = budget - step * (1 - dtype.epsilon)
    if found := _element_wise(expected, "error", actual, error <= budget):
        return found
    return _row_wise(expected, error, claims, step, dtype.quantised)


def _same_class(
    rounded: torch.Tensor, actual: torch.Tensor, exact: torch.Tensor, budget: torch.Tensor, dtype: str
) -> torch.Tensor:
    """Whether classes agree by position: NaN with NaN, an infinity with the same infinity, finite with finite."""
    equal = (rounded == actual) | (rounded.isnan() & actual.isnan()) | (rounded.isfinite() & actual.isfinite())
    at_the_edge = exact.isfinite() & (exact.abs() + budget >= torch.finfo(torch_dtype(dtype)).max)
    overflowed = actual.isinf() & (actual.sign() == exact.sign())
    return equal | (at_the_edge & (overflowed | actual.isfinite()))


def _row_wise(
    expected: Expected, error: torch.Tensor, claims: torch.Tensor, step: torch.Tensor, quantised: bool
) -> Mismatch | None:
    """Tests the RMS error of each row, which finds results that are a little too coarse everywhere."""
    found = _row_rms(error)
    # Few runs do not tell how many errors are independent; in the worst case all are.
    count = _row_count(claims > 0).clamp_max(expected.independent)
    independent = torch.full_like(count, torch.inf) if expected.partial else count
    factor = (WORST / (independent / _FEW).clamp_min(1.0).sqrt()).clamp_min(TYPICAL) * expected.slack
    length = error.shape[-1] if error.dim() else 1
    floor = 0.0 if quantised else max(0.5, length**-0.5) * _row_rms(step)
    correct = found <= factor * _row_rms(claims) + floor
    return _element_wise(expected, "typical error", found, correct.expand(found.shape), rows=True)


def _indices(expected: Expected, actual: torch.Tensor) -> Mismatch | None:
    assert expected.choices is not None
    choices = expected.choices
    inside = (actual >= 0) & (actual < choices.shape[-1])
    if found := _element_wise(expected, "index range", actual, inside):
        return found
    single = expected.value.dim() < choices.dim()
    chosen, wanted = (_select(choices, index, single) for index in (actual, expected.value))
    same = (chosen == wanted) | (chosen.isnan() & wanted.isnan())
    if found := _element_wise(expected, "selected value", actual, same | (actual == expected.value)):
        place = tuple(found.facts["worst"])
        values = f"{float(chosen[place]):.9g} was chosen, {float(wanted[place]):.9g} is correct"
        return replace(found, message=f"{found.message}; {values}")
    if single:
        return None
    ordered = actual.sort(-1).values
    distinct = torch.ones_like(actual, dtype=torch.bool)
    distinct[..., 1:] = ordered[..., 1:] != ordered[..., :-1]
    return _element_wise(expected, "repeated index", ordered, distinct)


def _select(choices: torch.Tensor, index: torch.Tensor, single: bool) -> torch.Tensor:
    if single:
        return choices.gather(-1, index.long().unsqueeze(-1)).squeeze(-1)
    return choices.gather(-1, index.long())


def _claims(spread: torch.Tensor, exact: torch.Tensor, partial: bool) -> torch.Tensor:
    """Returns the error allowed to each element: at least the usual error of its row and of its size, since all honest
    runs may be lucky at one element.
    """
    known = exact.isfinite() & (exact != 0)
    size = torch.where(known, exact.abs(), 0.0)
    usual = (spread / size)[known]
    relative = usual.median() * size if usual.numel() else size
    claims = torch.maximum(torch.maximum(spread, _row_spread(spread, partial)), relative)
    if partial:
        return claims
    # A zero may be a clipped value; only the other elements tell how far beyond the clip it was.
    uncertain = spread[spread > 0]
    return torch.where(exact == 0, claims.clamp_min(uncertain.median()), claims) if uncertain.numel() else claims


def _row_spread(spread: torch.Tensor, partial: bool) -> torch.Tensor:
    """Returns the typical spread of each row, without elements that cannot be wrong. Short rows are grouped.

    Few runs do not tell which elements those are: then all elements count, which can only lower the result.
    """
    if not spread.dim():
        return spread
    table = spread.reshape(-1, spread.shape[-1])
    together = max(_ENOUGH // table.shape[1], 1)
    padding = table.new_zeros(-len(table) % together, table.shape[1])
    groups = torch.cat([table, padding]).reshape(-1, together * table.shape[1])
    counted = torch.ones_like(groups, dtype=torch.bool) if partial else groups > 0
    if together > 1:  # the median, so that a few outliers do not widen the budget of the whole group
        typical = torch.where(counted, groups, torch.nan).nanmedian(-1).values.nan_to_num()
    else:
        typical = (groups.square().sum(-1) / _row_count(counted).clamp_min(1).squeeze(-1)).sqrt()
    return typical.repeat_interleave(together)[: len(table)].reshape(*spread.shape[:-1], 1)


def _row_count(flags: torch.Tensor) -> torch.Tensor:
    return flags.to(torch.float64).sum(-1, keepdim=True) if flags.dim() else flags.to(torch.float64)


def _row_rms(values: torch.Tensor) -> torch.Tensor:
    if not values.dim():
        return values.abs()
    return values.square().mean(-1, keepdim=True).sqrt()


def _unit_in_last_place(values: torch.Tensor, dtype: str) -> torch.Tensor:
    """The spacing of representable numbers around each value, at least that of the smallest normal number."""
    info = torch.finfo(torch_dtype(dtype))
    magnitude = torch.where(values.isfinite(), values.abs(), 0.0).clamp_min(info.smallest_normal)
    _, exponent = torch.frexp(magnitude)
    return torch.ldexp(torch.full_like(values, dtype_named(dtype).epsilon), exponent - 1)


def _element_wise(
    expected: Expected, kind: str, actual: torch.Tensor, correct: torch.Tensor, rows: bool = False
) -> Mismatch | None:
    if bool(correct.all()):
        return None
    facts = where_wrong(expected, actual, correct, rows)
    return _mismatch(expected, kind, facts.pop("sentence"), facts)


def _mismatch(expected: Expected, kind: str, message: str, facts: Mapping[str, Any] | None = None) -> Mismatch:
    return Mismatch(output=expected.name, kind=kind, message=f"{expected.name}: {message}", facts=facts or {})
