"""Checks a large draw in pieces along its batch, so that the expected values of one piece fit into memory beside the
call.

Expected values take several times the memory of a result. If every result has one row for each row of some inputs, the
reference may be evaluated on a few rows at a time. The reference need not be trusted: a piece is used only if the
reference's result on the whole batch agrees with the expected values of that piece.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, replace

import torch

from warpwright.core.errors import TaskError
from warpwright.core.formula import names_in
from warpwright.core.task import Case, Direction, Draw, Output, Task, TensorArg
from warpwright.oracle.compare.elements import Mismatch, in_rows
from warpwright.oracle.compare.results import check_in_steps, check_results
from warpwright.oracle.truth.expected import Expected, Scenario, expectations
from warpwright.oracle.truth.reference import Tensors, evaluate, function, tensors_in

PIECE_ELEMENTS = 1 << 26
"""Elements of the largest tensor of a piece; draws without a larger tensor are checked whole."""

Checked = tuple[tuple[Expected, ...], Mismatch | None]


@dataclass(frozen=True, slots=True, kw_only=True)
class Piece:
    """Some rows of a draw, as a draw of its own."""

    draw: Draw
    given: Scenario
    rows: slice


def check_draw(task: Task, draw: Draw, given: Scenario, results: Tensors, most: int = PIECE_ELEMENTS) -> Checked:
    """Compares results with the expected values, in pieces if the draw is large and can be split."""
    cut = list(pieces(task, draw, given, most))
    if cut and _have_rows(task, results, cut[-1].rows.stop):
        found = _checked_in_pieces(task, draw, given, cut, results)
        if found is not None:
            return found
    return check_in_steps(lambda runs: expectations(task, draw, given, runs), results)


def _have_rows(task: Task, results: Tensors, rows: int) -> bool:
    return len(results) == len(task.outputs) and all(result.shape[:1] == (rows,) for result in results)


def pieces(task: Task, draw: Draw, given: Scenario, most: int) -> Iterator[Piece]:
    """Splits a draw along its batch; yields nothing if the draw is small or has no batch."""
    largest = max((tensor.numel() for tensor in tensors_in(given.arguments)), default=0)
    batch = batch_size(task, draw.case) if largest > most else None
    if batch is None:
        return
    total = draw.case.dims[batch]
    step = max(most * total // largest, 1)
    for first in range(0, total, step):
        rows = slice(first, min(first + step, total))
        case = replace(draw.case, dims={**draw.case.dims, batch: rows.stop - rows.start})
        yield Piece(draw=replace(draw, case=case), given=_rows_of(task, given, batch, rows), rows=rows)


def batch_size(task: Task, case: Case) -> str | None:
    """Returns the name of the size that leads every output and at least one argument and appears nowhere else."""
    leading = {output.shape[0] if output.shape else None for output in task.outputs}
    name = next(iter(leading)) if len(leading) == 1 else None
    if not isinstance(name, str) or name not in case.dims or task.direction is not Direction.FORWARD or task.mutates:
        return None
    shaped: list[TensorArg | Output] = [item for item in task.arguments if isinstance(item, TensorArg)]
    is_led = any(item.shape[:1] == (name,) for item in shaped)
    appears = any(_mentions(item, name) for item in (*shaped, *task.outputs))
    return name if is_led and not appears else None


def _mentions(item: TensorArg | Output, name: str) -> bool:
    """Whether a size appears in a shape other than as its leading dimension."""
    shape = item.shape[1:] if item.shape[:1] == (name,) else item.shape
    return any(name in names_in(size) for size in shape)


def _rows_of(task: Task, given: Scenario, batch: str, rows: slice) -> Scenario:
    arguments = [
        _sliced(value, rows) if isinstance(argument, TensorArg) and argument.shape[:1] == (batch,) else value
        for argument, value in zip(task.arguments, given.arguments, strict=True)
    ]
    return replace(given, arguments=arguments)


def _sliced(value: object, rows: slice) -> object:
    if isinstance(value, list):
        return [_sliced(item, rows) for item in value]
    assert isinstance(value, torch.Tensor)
    return value[rows]


def _checked_in_pieces(task: Task, draw: Draw, given: Scenario, cut: list[Piece], results: Tensors) -> Checked | None:
    """Checks all pieces; None if a piece contradicts the reference on the whole batch, so that rows are not
    independent.
    """
    fresh = given.copy()
    whole = evaluate(task, draw.case, function(task.reference), fresh.arguments, fresh.gradients, fresh.saves)
    del fresh
    expected: tuple[Expected, ...] = ()
    for piece in cut:
        try:
            expected, contradiction = _on_piece(task, piece, whole)
        except TaskError:
            return None
        if contradiction is not None:
            return None
        if check_results(expected, _rows(results, piece)) is not None:
            expected, mismatch = _on_piece(task, piece, results)
            if mismatch is not None:
                return expected, in_rows(mismatch, piece.rows)
    return expected, None


def _on_piece(task: Task, piece: Piece, results: Tensors) -> Checked:
    return check_in_steps(lambda runs: expectations(task, piece.draw, piece.given, runs), _rows(results, piece))


def _rows(results: Tensors, piece: Piece) -> Tensors:
    return [result[piece.rows] for result in results]
