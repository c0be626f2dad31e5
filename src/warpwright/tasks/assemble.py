"""Builds a Task from what was observed of a user's function: sizes get names, runs become cases."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace

from warpwright.core.dtypes import dtype_named
from warpwright.core.errors import TaskError
from warpwright.core.task import Argument, Direction, Output, Reference, ScalarArg, Size, Task, TensorArg, Work
from warpwright.tasks.extents import Column, Extents
from warpwright.tasks.probing.seen import Findings, Purpose, Run, ScalarSeen, Seen, TensorSeen
from warpwright.tasks.roles import cases_of, generic, ranges_of, with_layouts


@dataclass(frozen=True, slots=True, kw_only=True)
class Loaded:
    """The knowledge of a loader besides the findings."""

    name: str
    where: str
    direction: Direction
    reference: Reference
    any_layout: bool = True
    """Whether gradients may arrive in any layout, as in our own contract."""


def assembled(loaded: Loaded, findings: Findings) -> Task:
    runs, notes = _alike(findings)
    _has_direction(loaded, findings, runs[0])
    extents = Extents(taken={"e", "i", *(seen.name for seen in runs[0].arguments)})
    seen = [generic(run) for run in runs]
    columns = list(zip(*(run.arguments for run in seen), strict=True))
    arguments = tuple(_argument(extents, items) for items in columns)
    arguments = tuple(_bounded(extents, argument, items) for argument, items in zip(arguments, columns, strict=True))
    outputs = tuple(_output(extents, items) for items in zip(*(run.outputs for run in seen), strict=True))
    saves = tuple(_output(extents, items) for items in zip(*(run.saves for run in seen), strict=True))
    cases = cases_of(runs, extents)
    return Task(
        name=loaded.name,
        summary=findings.summary,
        direction=loaded.direction,
        dtypes=tuple(dict.fromkeys(case.dtype for case in cases)),
        arguments=arguments,
        outputs=outputs,
        saves=saves,
        mutates=findings.mutates,
        backward_takes=findings.backward_takes,
        cases=with_layouts(cases) if loaded.any_layout and loaded.direction is not Direction.FORWARD else cases,
        ranges=ranges_of(runs, extents),
        distributions=findings.distributions,
        work=_work(loaded.direction, arguments, outputs),
        reference=loaded.reference,
        notes=(*findings.notes, *notes),
    )


def _alike(findings: Findings) -> tuple[list[Run], list[str]]:
    """Keeps the runs with the signature of the first: a task has only one signature."""
    first = _form(findings.runs[0])
    runs = [run for run in findings.runs if _form(run) == first]
    others = sum(_form(run) != first and run.purpose is Purpose.GIVEN for run in findings.runs)
    note = f"configurations left out because their arguments differ in kind, rank or dtype from the first's: {others}"
    return runs, [note] if others else []


def _form(run: Run) -> list[object]:
    run = generic(run)
    tensors = (*run.arguments, *run.outputs, *run.saves)
    return [(s.name, len(s.shape), s.dtype, s.count is None) if isinstance(s, TensorSeen) else s.name for s in tensors]


def _has_direction(loaded: Loaded, findings: Findings, run: Run) -> None:
    if loaded.direction is Direction.FORWARD:
        return
    problem = ""
    if findings.mutates:
        problem = f"changes {', '.join(findings.mutates)} in place"
    elif not any(output.grad for output in run.outputs):
        problem = "returns nothing that a gradient flows back from"
    if problem:
        raise TaskError(loaded.where, None, f"{problem}, so it has no {loaded.direction} direction", "ask for forward")


def _argument(extents: Extents, items: Sequence[Seen]) -> Argument:
    tensors = [seen for seen in items if isinstance(seen, TensorSeen)]
    if not tensors:
        values = {repr(seen.value): seen.value for seen in items if isinstance(seen, ScalarSeen)}
        return ScalarArg(name=items[0].name, values=tuple(values.values()))
    first = tensors[0]
    return TensorArg(
        name=first.name,
        shape=_shape(extents.independent, tensors),
        dtype=first.dtype,
        init=first.init,
        low=first.low,
        grad=first.grad,
        count=_optional(extents.independent, [seen.count for seen in tensors]),
    )


def _bounded(extents: Extents, argument: Argument, items: Sequence[Seen]) -> Argument:
    """Adds the upper bound of integers, which may depend on sizes of other arguments."""
    if not isinstance(argument, TensorArg):
        return argument
    bounds = [seen.below for seen in items if isinstance(seen, TensorSeen)]
    return replace(argument, below=_optional(extents.dependent, bounds))


def _output(extents: Extents, items: Sequence[TensorSeen]) -> Output:
    shape = _shape(extents.dependent, items)
    return Output(name=items[0].name, shape=shape, dtype=items[0].dtype, grad=items[0].grad)


def _shape(named: Callable[[Column], Size], tensors: Sequence[TensorSeen]) -> tuple[Size, ...]:
    return tuple(named(column) for column in zip(*(seen.shape for seen in tensors), strict=True))


def _optional(named: Callable[[Column], Size], values: Sequence[int | None]) -> Size | None:
    present = tuple(value for value in values if value is not None)
    return named(present) if len(present) == len(values) else None


def _work(direction: Direction, arguments: Sequence[Argument], outputs: Sequence[Output]) -> Work:
    """Returns the bytes that must be written. How much a function reads and computes is not known."""
    gradients_of = [argument for argument in arguments if isinstance(argument, TensorArg) and argument.grad]
    written: list[str] = []
    if direction is not Direction.BACKWARD:
        written += [_bytes(output.shape, output.dtype) for output in outputs]
    if direction is not Direction.FORWARD:
        written += [_bytes(argument.shape, argument.dtype) for argument in gradients_of if argument.count is None]
    return Work(writes=" + ".join(written) or 0)


def _bytes(shape: Sequence[Size], dtype: str) -> str:
    each = "e" if dtype == "T" else str(dtype_named(dtype).bytes)
    return "*".join([*(f"({size})" if " " in str(size) or "//" in str(size) else str(size) for size in shape), each])
