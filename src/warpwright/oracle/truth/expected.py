"""Expected values of a candidate on one draw, and the spread of honest implementations around them."""

from __future__ import annotations

import math
import random
import traceback
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from types import EllipsisType
from typing import Any

import torch

from warpwright.core.calls import FORWARD, entry_calls
from warpwright.core.errors import OurFault, TaskError, WarpwrightError
from warpwright.core.records.evidence import Fault
from warpwright.core.signature import TensorSpec, contiguous, flatten, forward_arguments, tensors
from warpwright.core.task import Case, Compare, Draw, Output, Task, TensorArg
from warpwright.oracle.inputs.arguments import forward_inputs, gradient_inputs, torch_dtype
from warpwright.oracle.inputs.storage import as_bits, held
from warpwright.oracle.truth import eight_bits
from warpwright.oracle.truth.double_precision import lifted, to_double
from warpwright.oracle.truth.jitter import Jitter
from warpwright.oracle.truth.reference import Tensors, evaluate, function, saved, tensors_in

HONEST_RUNS = 8
BLOCK_ELEMENTS = 1 << 26
"""Elements of a result whose errors are computed at a time."""
FEW_RUNS = 2
_SMALL_WHOLE = (torch.int8, torch.uint8)
_SCALES, _SCALED = (0.8, 1.25), (torch.float16, torch.bfloat16, torch.float32, torch.float64)


@dataclass(frozen=True, slots=True, kw_only=True)
class Scenario:
    """The inputs of one draw."""

    arguments: list[Any]
    gradients: Tensors
    saves: Tensors

    def copy(self) -> Scenario:
        """Copies the inputs to fresh memory with the same layout, for a function that may write to them."""
        return Scenario(arguments=_copied(self.arguments), gradients=self.gradients, saves=_copied(self.saves))

    def on(self, device: str) -> Scenario:
        """Copies the inputs to a device."""
        return Scenario(
            arguments=_moved(self.arguments, device),
            gradients=_moved(self.gradients, device),
            saves=_moved(self.saves, device),
        )


@dataclass(frozen=True, slots=True, kw_only=True)
class Expected:
    """One expected tensor: its values in double, and the spread of honest results around them."""

    name: str
    spec: TensorSpec
    compare: Compare
    value: torch.Tensor
    spread: torch.Tensor | None
    """The RMS error of honest runs per element; None if only equality counts."""
    independent: float = math.inf
    """How many errors of a row are independent of each other: all, or one if they have a common cause."""
    choices: torch.Tensor | None = None
    """INDEX only: the values that the indices select from."""
    honest: torch.Tensor | None = None
    """EXACT only: what honest runs gave besides the true value, one after another along the first dimension; None if
    all of them gave it.
    """
    slack: float = 1.0
    partial: bool = False
    """Whether the spread comes from few honest runs and the others count as exact: it then allows less than all runs
    would.
    """


def scenario(task: Task, draw: Draw, device: torch.device | str = "cpu") -> Scenario:
    """Generates the inputs of a draw, with the tensors that the reference saves of them in its own precision."""
    return _completed(task, draw, forward_inputs(task, draw, device), gradient_inputs(task, draw, device))


def permuted_inputs(task: Task, draw: Draw, given: Scenario) -> Scenario:
    """Derives new inputs from known ones at the cost of a copy: rolls each tensor by its own random distance.

    Floating values are also scaled a little, so that even the sum over all of them differs.
    """
    ways = random.Random(draw.seed)
    arguments = [
        value if isinstance(argument, TensorArg) and argument.init == "constructed" else _permuted(value, ways)
        for argument, value in zip(task.arguments, given.arguments, strict=True)
    ]
    return _completed(task, draw, arguments, [_permuted(gradient, ways) for gradient in given.gradients])


def _permuted(value: Any, ways: random.Random) -> Any:
    if isinstance(value, list):
        return [_permuted(item, ways) for item in value]
    if not isinstance(value, torch.Tensor) or value.numel() < 2 or 0 in value.stride():
        return value
    bits = as_bits(value)
    moved = bits.reshape(-1).roll(ways.randrange(1, value.numel())).view(value.shape)
    if not value.is_contiguous():
        moved = torch.empty_strided(value.shape, value.stride(), dtype=bits.dtype, device=value.device).copy_(moved)
    found, factor = moved.view(value.dtype), ways.uniform(*_SCALES)
    return found.mul_(factor) if value.dtype in _SCALED else found


def _completed(task: Task, draw: Draw, arguments: list[Any], gradients: Tensors) -> Scenario:
    with _blamed_on_the_reference(task, draw):
        kept = saved(task, arguments)
    specs = tensors(draw.case, task.saves) if kept else ()
    saves = [tensor.to(torch_dtype(spec.dtype)).contiguous() for tensor, spec in zip(kept, specs, strict=True)]
    return Scenario(arguments=arguments, gradients=gradients, saves=saves)


def compared_tensors(task: Task, case: Case) -> tuple[tuple[TensorSpec, Output | None], ...]:
    """The specs of all compared tensors, in the order of `evaluate`."""
    given = [item for spec in forward_arguments(task, case) for item in flatten(spec)]
    compared: list[tuple[TensorSpec, Output | None]] = []
    for call in entry_calls(task, case):
        outputs = task.outputs if call.entry == FORWARD else (None,) * len(call.results)
        compared += zip(call.results, outputs, strict=True)
        compared += [(given[position], None) for position in call.mutates]
    return tuple(compared)


def exact_results(task: Task, draw: Draw, given: Scenario) -> Tensors:
    """Evaluates the reference in double precision."""
    arguments, gradients, saves = map(to_double, (given.arguments, given.gradients, given.saves))
    with lifted(), _blamed_on_the_reference(task, draw):
        found = evaluate(task, draw.case, function(task.reference), arguments, gradients, saves)
    return _finished(task, draw.case, found)


@contextmanager
def _blamed_on_the_reference(task: Task, draw: Draw) -> Iterator[None]:
    """Converts an error of the reference on its own inputs to a TaskError in one sentence.

    A lack of memory is our fault: a task may be large.
    """
    try:
        yield
    except (WarpwrightError, torch.OutOfMemoryError):
        raise
    except Exception as error:
        if isinstance(error, MemoryError) or "can't allocate memory" in str(error):
            message = f"{task.key}, case {draw.case.name}: this machine has too little memory for the reference"
            raise OurFault(Fault(where="oracle", message=message)) from error
        said = (str(error).splitlines() or [""])[0]
        problem = f"raises {type(error).__name__} in case {draw.case.name}: {said}"
        raise TaskError(_place(task.reference.filename, error), None, problem) from error


def _place(filename: str, error: Exception) -> str:
    """Returns the file with the last of its lines that the error went through."""
    frames = [frame for frame in traceback.extract_tb(error.__traceback__) if frame.filename == filename]
    return f"{filename}:{frames[-1].lineno}" if frames else filename


def honest_results(task: Task, draw: Draw, given: Scenario, seed: int, contrary: bool = False) -> Tensors:
    """Evaluates the reference in its own precision, with rounding as in some honest implementation."""
    fresh = given.copy()
    with Jitter(seed, tf32=task.tolerance.tf32, contrary=contrary):
        found = evaluate(task, draw.case, function(task.reference), fresh.arguments, fresh.gradients, fresh.saves)
    return _finished(task, draw.case, found)


def _finished(task: Task, case: Case, found: Tensors) -> Tensors:
    """Rounds to 8 bits what went through them on the way."""
    return eight_bits.finished(found, [spec for spec, _ in compared_tensors(task, case)])


def expectations(task: Task, draw: Draw, given: Scenario, runs: int = HONEST_RUNS) -> tuple[Expected, ...]:
    """Computes the expected values of a draw."""
    exact = exact_results(task, draw, given)
    owed = compared_tensors(task, draw.case)
    if not _is_rounded(given, exact, [output for _, output in owed]):
        runs = 0
    # One run has only unlikely roundings: otherwise an honest kernel would be the first to meet a rare one.
    seeds = range(HONEST_RUNS - runs, HONEST_RUNS)
    honest = [honest_results(task, draw, given, seed, contrary=seed == 0) for seed in seeds]
    whole = not runs or all(value.is_floating_point() for value in exact)
    eager = [] if whole else [_eager_results(task, draw, given)]
    return tuple(_expected(task, draw, given, exact, honest, eager))


def _is_rounded(given: Scenario, exact: Tensors, outputs: Sequence[Output | None]) -> bool:
    """Whether rounding decides any of the results: what honest runs give differs then."""
    if any(value.is_floating_point() for value in exact):
        return True
    floats = any(tensor.is_floating_point() for tensor in tensors_in(given.arguments))
    return floats and any(output is None or output.compare is Compare.VALUE for output in outputs)


def _eager_results(task: Task, draw: Draw, given: Scenario) -> Tensors:
    """The reference in its own precision, as torch rounds it."""
    fresh = given.copy()
    return evaluate(task, draw.case, function(task.reference), fresh.arguments, fresh.gradients, fresh.saves)


def _expected(
    task: Task, draw: Draw, given: Scenario, exact: Tensors, honest: Sequence[Tensors], eager: Sequence[Tensors]
) -> Iterator[Expected]:
    for number, (spec, output) in enumerate(compared_tensors(task, draw.case)):
        value = exact[number]
        if tuple(value.shape) != spec.shape:
            problem = f"{spec.name} has shape {tuple(value.shape)}; the task declares {spec.shape} in {draw.case.name}"
            raise TaskError(task.reference.filename, None, problem)
        compare = output.compare if output else Compare.VALUE
        if not value.is_floating_point() and compare is Compare.VALUE:
            compare = Compare.EXACT
        spread, independent = None, math.inf
        if value.is_floating_point():
            spread, independent = _spread(task, draw, spec, value, [run[number] for run in honest])
        yield Expected(
            name=spec.name,
            spec=TensorSpec(name=spec.name, shape=spec.shape, stride=contiguous(spec.shape), dtype=spec.dtype),
            compare=compare,
            value=value,
            spread=spread,
            independent=independent,
            choices=_choices(task, output, given),
            honest=_others(value, [run[number] for run in (*honest, *eager)]) if compare is Compare.EXACT else None,
            slack=task.tolerance.slack,
            partial=spread is not None and len(honest) < HONEST_RUNS,
        )


def _others(value: torch.Tensor, runs: Tensors) -> torch.Tensor | None:
    """The results of honest runs where any differs from the truth; of small whole numbers the least and the largest."""
    others = [run.to(value.dtype) for run in runs if run.shape == value.shape and not torch.equal(run, value)]
    if not others:
        return None
    found = torch.stack([value, *others])
    return torch.stack([found.amin(0), found.amax(0)]) if value.dtype in _SMALL_WHOLE else found


def _spread(task: Task, draw: Draw, spec: TensorSpec, value: torch.Tensor, runs: Tensors) -> tuple[torch.Tensor, float]:
    """Returns the spread of the runs where it can be measured, and the number of independent errors in a row.

    Runs are processed one after the other: all of them in double precision may not fit into GPU memory.
    """
    squares, rows = torch.zeros_like(value), []
    for run in runs:
        errors = [_add_errors(squares[block], value[block], run[block], spec) for block in row_blocks(value)]
        rows.append(torch.cat(errors))
    if any(bool(errors.isnan().any()) for errors in rows):
        problem = f"{spec.name} is not finite in {spec.dtype} where the exact result is"
        where = f"{task.key}, case {draw.case.name}, distribution {draw.distribution}"
        raise TaskError(where, None, problem, "it gives no error budget: leave that distribution out")
    return squares.div_(HONEST_RUNS).sqrt_(), _independent(torch.stack(rows))


def row_blocks(tensor: torch.Tensor, most: int = BLOCK_ELEMENTS) -> list[slice | EllipsisType]:
    """Splits a large tensor into blocks of rows, which bounds temporary memory; others are one block."""
    if tensor.dim() < 2 or tensor.numel() <= most:
        return [...]
    step = max(most * len(tensor) // tensor.numel(), 1)
    return [slice(first, min(first + step, len(tensor))) for first in range(0, len(tensor), step)]


def _add_errors(squares: torch.Tensor, value: torch.Tensor, run: torch.Tensor, spec: TensorSpec) -> torch.Tensor:
    """Adds the squared errors of a run and returns the RMS error of each row: NaN if an error is not finite."""
    matters = value.to(torch_dtype(spec.dtype)).to(torch.float64).isfinite()
    error = torch.where(matters, run.to(torch.float64) - value, 0.0)
    error.masked_fill_(error.isinf(), math.nan)
    of_rows = error.square().mean(-1).sqrt() if error.dim() else error.abs()
    squares.add_(error.square_())
    return of_rows if of_rows.dim() else of_rows.reshape(1)


def _independent(rows: torch.Tensor) -> float:
    """Estimates the number from the variation of a row's RMS error between runs: n independent errors vary by
    1/sqrt(2n).
    """
    uncertain = rows.mean(0) > 0
    if not bool(uncertain.any()):
        return math.inf
    variation = (rows.std(0) / rows.mean(0))[uncertain]
    return 0.5 / max(float(variation.square().mean()), 1e-12)


def _choices(task: Task, output: Output | None, given: Scenario) -> torch.Tensor | None:
    if output is None or output.selects is None:
        return None
    with lifted(), torch.no_grad():
        values: torch.Tensor = function(task.reference, output.selects)(*to_double(given.arguments))
        return values


def _moved(value: Any, device: str) -> Any:
    if isinstance(value, torch.Tensor):
        return held(value).to(device).expand(value.shape)  # moving the expanded tensor itself would lose its layout
    return [_moved(item, device) for item in value] if isinstance(value, list) else value


def _copied(value: Any) -> Any:
    if isinstance(value, torch.Tensor):
        return value.clone()
    return [_copied(item) for item in value] if isinstance(value, list) else value
