"""Wrong results that a robust task must refute.

Each control stands for a family of cheats. It returns the results of such a cheat for one draw, or None if the cheat
cannot be built there (no input has the output's shape, the operation does not occur).
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from functools import partial
from typing import Any

import torch

from warpwright.core.dtypes import dtype_named
from warpwright.core.task import Draw, ScalarArg, Task
from warpwright.oracle.controls.tampering import Tampered
from warpwright.oracle.inputs.arguments import torch_dtype
from warpwright.oracle.truth.double_precision import lifted, to_double
from warpwright.oracle.truth.expected import Expected, Scenario, exact_results, scenario
from warpwright.oracle.truth.jitter import to_tf32
from warpwright.oracle.truth.reference import Tensors, evaluate, function, tensors_in


@dataclass(frozen=True, slots=True, kw_only=True)
class Prepared:
    """A draw with its inputs and expected values."""

    task: Task
    draw: Draw
    given: Scenario
    expected: tuple[Expected, ...]

    def expected_results(self) -> Tensors:
        """The expected values, rounded as by a perfect candidate."""
        return [rounded(wanted.value, wanted) for wanted in self.expected]


Forge = Callable[[Prepared], Tensors | None]


@dataclass(frozen=True, slots=True, kw_only=True)
class Control:
    name: str
    forge: Forge
    per_dtype: bool = False
    """Whether the control must be refuted in every dtype separately; otherwise one refutation is enough."""
    may_be_idle: bool = False
    """Whether the control may have no effect: in a backward pass not every argument matters."""


def controls(task: Task, sample: Prepared) -> Iterator[Control]:
    """Yields all controls of a task; the operations to omit are listed by running one draw."""
    for number, wanted in enumerate(sample.expected):
        for name, spoil in _SPOILERS.items():
            yield Control(name=f"{name} ({wanted.name})", forge=partial(_spoiled, number, spoil), per_dtype=True)
    yield Control(name="stale output", forge=_stale, per_dtype=True)
    yield Control(name="lower precision", forge=_lower_precision, per_dtype=True)
    backward = task.direction != "forward"
    for argument in task.arguments:
        for filler in _fillers(argument):
            forge = partial(_without_argument, argument.name, filler)
            yield Control(name=f"{argument.name} as {filler}", forge=forge, may_be_idle=backward)
    for label in _operations(sample):
        yield Control(name=label, forge=partial(_without_operation, label), may_be_idle=backward)


def rounded(value: torch.Tensor, wanted: Expected) -> torch.Tensor:
    return value.to(torch_dtype(wanted.spec.dtype)).reshape(wanted.spec.shape).contiguous()


Spoil = Callable[[torch.Tensor, Prepared], torch.Tensor | None]


def _spoiled(number: int, spoil: Spoil, at: Prepared) -> Tensors | None:
    """Returns correct outputs, except for one."""
    results = at.expected_results()
    spoiled = spoil(results[number], at)
    if spoiled is None:
        return None
    return [*results[:number], spoiled, *results[number + 1 :]]


def _mean(value: torch.Tensor, at: Prepared) -> torch.Tensor | None:
    wide = value.to(torch.float64)
    return torch.full_like(wide, float(wide.nanmean())).to(value.dtype) if value.numel() > 1 else None


def _input(value: torch.Tensor, at: Prepared) -> torch.Tensor | None:
    alike = (tensor for tensor in tensors_in(at.given.arguments) if tensor.shape == value.shape)
    found = next(alike, None)
    return None if found is None else found.to(torch.float32).to(value.dtype)


def _skip(value: torch.Tensor, at: Prepared) -> torch.Tensor:
    """Leaves every hundredth element at zero."""
    flat = value.flatten().clone()
    flat[at.draw.seed % min(100, len(flat)) :: 100] = 0
    return flat.reshape(value.shape)


def _row(value: torch.Tensor, at: Prepared) -> torch.Tensor | None:
    """Replaces a row by another one."""
    if value.dim() < 2 or value.numel() == value.shape[-1]:
        return None
    table = value.reshape(-1, value.shape[-1]).clone()
    table[-1] = table[0]
    return table.reshape(value.shape)


def _broadcast(value: torch.Tensor, at: Prepared) -> torch.Tensor:
    return value.flatten()[:1].reshape((1,) * max(value.dim(), 1))


def _shifted(value: torch.Tensor, at: Prepared) -> torch.Tensor | None:
    """Shifts the results by one element."""
    return value.flatten().roll(1).reshape(value.shape) if value.numel() > 1 else None


_SPOILERS: dict[str, Spoil] = {
    "zeros": lambda value, at: torch.zeros_like(value),
    "mean": _mean,
    "input": _input,
    "1 % skipped": _skip,
    "one row wrong": _row,
    "off by one": _shifted,
    "broadcast shape": lambda value, at: None if value.numel() == 1 and value.dim() == 1 else _broadcast(value, at),
}


def _stale(at: Prepared) -> Tensors:
    """Returns the correct results for other inputs of the same shape."""
    other = Draw(case=at.draw.case, distribution=at.draw.distribution, seed=at.draw.seed + 1000)
    return _rounded_all(exact_results(at.task, other, scenario(at.task, other)), at)


def _lower_precision(at: Prepared) -> Tensors:
    """Applies the correct formula to operands rounded more coarsely than the task's own dtype."""
    coarse = _coarser(at.draw.case.dtype, at.task.tolerance.tf32)
    fresh = at.given.copy()
    return _evaluated(at, _map(coarse, fresh.arguments), _map(coarse, fresh.gradients), _map(coarse, fresh.saves))


def _coarser(dtype: str, tf32_allowed: bool) -> Callable[[torch.Tensor], torch.Tensor]:
    """Returns the coarser rounding: TF32 for fp32 (bf16 if TF32 is allowed), 8 bits for 16."""
    if dtype_named(dtype).bytes >= 4 and not tf32_allowed:
        return to_tf32
    narrow = torch.bfloat16 if dtype_named(dtype).bytes >= 4 else torch.float8_e4m3fn
    limit = float(torch.finfo(narrow).max)
    own = torch_dtype(dtype)
    return lambda tensor: tensor.clamp(-limit, limit).to(narrow).to(tensor.dtype) if tensor.dtype is own else tensor


def _fillers(argument: Any) -> tuple[str, ...]:
    if isinstance(argument, ScalarArg):
        numeric = all(type(value) in (float, bool) for value in argument.values)
        return ("zero",) if numeric else ()
    return ("zeros", "ones")


def _without_argument(name: str, filler: str, at: Prepared) -> Tensors:
    arguments = at.given.copy().arguments
    position = [argument.name for argument in at.task.arguments].index(name)
    arguments[position] = _filled(arguments[position], filler)
    return _evaluated(at, arguments, at.given.gradients, at.given.saves)


def _filled(value: Any, filler: str) -> Any:
    match value:
        case torch.Tensor():
            return torch.zeros_like(value) if filler == "zeros" else torch.ones_like(value)
        case list():
            return [_filled(item, filler) for item in value]
        case bool():
            return not value
    return 0.0


def _operations(at: Prepared) -> tuple[str, ...]:
    mode = Tampered()
    _run(at, mode)
    return tuple(mode.labels)


def _without_operation(label: str, at: Prepared) -> Tensors | None:
    mode = Tampered(without=label)
    results = _run(at, mode)
    return results if label in mode.labels else None


def _run(at: Prepared, mode: Tampered) -> Tensors:
    given = at.given
    return _evaluated(at, given.arguments, given.gradients, given.saves, mode)


def _evaluated(
    at: Prepared, arguments: list[Any], gradients: Tensors, saves: Tensors, mode: Tampered | None = None
) -> Tensors:
    """Evaluates in double and rounds at the end, so that only the tampering makes the result wrong."""
    wide = [to_double(value) for value in (arguments, gradients, saves)]
    with lifted(mode):
        found = evaluate(at.task, at.draw.case, function(at.task.reference), wide[0], wide[1], wide[2])
    return _rounded_all(found, at)


def _rounded_all(values: Tensors, at: Prepared) -> Tensors:
    return [rounded(value, wanted) for value, wanted in zip(values, at.expected, strict=True)]


def _map(change: Callable[[torch.Tensor], torch.Tensor], value: Any) -> Any:
    if isinstance(value, torch.Tensor):
        return change(value) if value.is_floating_point() else value
    return [_map(change, item) for item in value] if isinstance(value, list) else value
