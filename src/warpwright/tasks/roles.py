"""Assigns runs to cases of each role, and derives the ranges of hidden cases."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import replace

from warpwright.core.dtypes import dtype_named
from warpwright.core.task import Case, Layout, Range, Role
from warpwright.tasks.cases import layout_coverage
from warpwright.tasks.extents import Extents
from warpwright.tasks.probing.seen import Purpose, Run, ScalarSeen, TensorSeen

_CHECKABLE = 2**16
"""The most elements of a case whose sizes the loader chose."""


def cases_of(runs: Sequence[Run], extents: Extents) -> tuple[Case, ...]:
    """Given sizes are timed and checked; if they are too large for a CPU, reduced ones are checked in their place.

    Small sizes chosen by the loader form the envelope, and replace the given ones only if no reduction does.
    """
    varying = _naming_scalars(runs, extents)

    def cases(purpose: Purpose, role: Role) -> list[Case]:
        numbers = [number for number, run in enumerate(runs) if run.purpose is purpose]
        return [_case(runs[number], extents.dims(number), role, varying) for number in numbers]

    timed, small = cases(Purpose.GIVEN, Role.TIME), cases(Purpose.SMALL, Role.ENVELOPE)
    names = {run.number: case.name for run, case in zip(_of(runs, Purpose.GIVEN), timed, strict=True)}
    asked = [names[run.number] for run in _of(runs, Purpose.REDUCED)]
    checked = list(map(_standing_for, cases(Purpose.REDUCED, Role.CHECK), asked))
    if not checked:
        least = min(zip(_of(runs, Purpose.GIVEN), timed, strict=True), key=lambda pair: _elements(pair[0]))[1]
        checked = [_standing_for(replace(case, role=Role.CHECK), least.name) for case in small or [least]]
    known = {case.name for case in checked}
    found = (*checked, *(case for case in small if case.name not in known), *timed)
    return tuple({(case.role, case.name): case for case in found}.values())


def _of(runs: Sequence[Run], purpose: Purpose) -> list[Run]:
    return [run for run in runs if run.purpose is purpose]


def _standing_for(case: Case, asked: str) -> Case:
    return case if case.name == asked else replace(case, stands_for=asked)


def with_layouts(cases: Sequence[Case]) -> tuple[Case, ...]:
    """Repeats the most informative check case with expanded and with transposed gradients."""
    chosen = max((case for case in cases if case.role is Role.CHECK), key=lambda case: layout_coverage(case.dims))
    layouts = (Layout.EXPANDED, Layout.TRANSPOSED)
    return (*cases, *(replace(chosen, name=f"{chosen.name}-{layout}", layout=layout) for layout in layouts))


def ranges_of(runs: Sequence[Run], extents: Extents) -> dict[str, Range]:
    """Returns the ranges of sizes; none if a result's size has no formula, or a scalar changes with the sizes."""
    if extents.loose or _varying_scalars(runs):
        return {}
    small = [number for number, run in enumerate(runs) if run.purpose is Purpose.SMALL]
    columns = {name: [column[number] for number in small] for name, column in extents.columns.items()}
    if not small or not columns:
        return {}
    most = int(_CHECKABLE ** (1 / len(columns)))
    return {name: _range(values, max(most, 4)) for name, values in columns.items()}


def _range(values: Sequence[int], most: int) -> Range:
    """Returns the range between the smallest and largest size if odd sizes work, else only the sizes seen."""
    if any(value % 2 and value > 1 for value in values):
        return Range(low=min(values), high=max(min(max(values), most), min(values)))
    return Range(choices=tuple(sorted(set(values))))


def generic(run: Run) -> Run:
    """Returns the run with "T" for the dtype that a case may choose."""
    own = own_dtype(run)

    def retyped(seen: TensorSeen) -> TensorSeen:
        return replace(seen, dtype="T") if seen.dtype == own else seen

    return replace(
        run,
        arguments=tuple(retyped(seen) if isinstance(seen, TensorSeen) else seen for seen in run.arguments),
        outputs=tuple(map(retyped, run.outputs)),
        saves=tuple(map(retyped, run.saves)),
    )


def own_dtype(run: Run) -> str:
    """Returns the first floating dtype of arguments or outputs."""
    names = (seen.dtype for seen in (*run.arguments, *run.outputs) if isinstance(seen, TensorSeen))
    return next((name for name in names if dtype_named(name).floating), "fp32")


def _case(run: Run, dims: Mapping[str, int], role: Role, varying: set[str]) -> Case:
    scalars = {seen.name: seen.value for seen in run.arguments if isinstance(seen, ScalarSeen)}
    dtype = own_dtype(run)
    parts = [f"{name}{size}" for name, size in dims.items()]
    parts += [f"{name}{_label(scalars[name])}" for name in scalars if name in varying]
    name = "-".join([*(parts or ["given"]), dtype])
    return Case(name=name, role=role, dims=dims, dtype=dtype, scalars=scalars, work=run.work)


def _label(value: object) -> str:
    return "x".join(map(str, value)) if isinstance(value, tuple) else str(value)


def _naming_scalars(runs: Sequence[Run], extents: Extents) -> set[str]:
    """Returns the scalars that must be part of a case's name, because its sizes do not determine them."""
    by_sizes: dict[str, set[str]] = {}
    for number, run in enumerate(runs):
        scalars = [repr(seen) for seen in run.arguments if isinstance(seen, ScalarSeen)]
        by_sizes.setdefault(f"{extents.dims(number)} {own_dtype(run)}", set()).add(" ".join(scalars))
    return _varying_scalars(runs) if any(len(found) > 1 for found in by_sizes.values()) else set()


def _varying_scalars(runs: Sequence[Run]) -> set[str]:
    values: dict[str, set[str]] = {}
    for run in runs:
        for seen in run.arguments:
            if isinstance(seen, ScalarSeen):
                values.setdefault(seen.name, set()).add(repr(seen.value))
    return {name for name, found in values.items() if len(found) > 1}


def _elements(run: Run) -> int:
    tensors = [seen for seen in (*run.arguments, *run.outputs) if isinstance(seen, TensorSeen)]
    return sum(math.prod(seen.shape) * (seen.count or 1) for seen in tensors)
