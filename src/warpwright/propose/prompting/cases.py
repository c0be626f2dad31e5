"""Describes the cases of a task: the checked, timed and hidden ones, and the least time of each timed case."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Iterator

from warpwright.core.gpus.limit import Bound, Limit, arithmetic, physical_limit, traffic
from warpwright.core.gpus.table import Gpu
from warpwright.core.signature import contiguous, output_gradients
from warpwright.core.task import Case, Layout, Plain, Range, Role, ScalarArg, Task

_BOUNDS = {Bound.MEMORY: "memory", Bound.MATRIX: "matrix operations", Bound.SCALAR: "scalar operations"}
_LAYOUTS = {Layout.EXPANDED: "with stride 0 everywhere", Layout.TRANSPOSED: "with the last two dimensions transposed"}


def checked(task: Task) -> str:
    """Lists the checked cases."""
    return "; ".join(_grouped(task, task.cases_of(Role.CHECK))) or "none"


def timed(task: Task, gpu: Gpu) -> str:
    """Lists the timed cases, one line each, with the physical limit of each."""
    return "\n".join(_timed(task, case, gpu) for case in task.cases_of(Role.TIME)) or "- none"


def _grouped(task: Task, cases: Iterable[Case]) -> Iterator[str]:
    """Groups cases of equal sizes, with their integer scalars; data types are named only where they differ from
    most."""
    groups: dict[tuple[str, Layout], list[Case]] = {}
    for case in cases:
        groups.setdefault((_sizes(case), _layout(task, case)), []).append(case)
    types = {key: tuple(dict.fromkeys(case.dtype for case in group)) for key, group in groups.items()}
    usual = Counter(types.values()).most_common(1)
    for (sizes, layout), group in groups.items():
        strides = f", gradients {_LAYOUTS[layout]}" if layout in _LAYOUTS else ""
        only = "" if types[sizes, layout] == usual[0][0] else f" ({', '.join(types[sizes, layout])} only)"
        yield sizes + _numbers(group) + strides + only


def _layout(task: Task, case: Case) -> Layout:
    """The layout of the case's gradients; contiguous if every gradient is a single number, which has one layout."""
    strided = any(spec.stride != contiguous(spec.shape) for spec in output_gradients(task, case))
    return case.layout if strided else Layout.CONTIGUOUS


def _sizes(case: Case) -> str:
    return " ".join(f"{name}={size}" for name, size in case.dims.items()) or case.name


def _numbers(group: list[Case]) -> str:
    """Lists all values of integer scalars, which may determine shapes, as in k=2|4."""
    found: dict[str, dict[str, None]] = {}
    for case in group:
        for name, value in case.scalars.items():
            if type(value) is int:
                found.setdefault(name, {})[str(value)] = None
    return "".join(f" {name}={'|'.join(values)}" for name, values in found.items())


def _timed(task: Task, case: Case, gpu: Gpu) -> str:
    named = set(case.name.split("-"))
    values = {**case.dims, **case.scalars}
    given = [f"{name}={_plain(value)}" for name, value in values.items() if f"{name}{_plain(value)}" not in named]
    told = f" ({', '.join(given)})" if given else ""
    return f"- {case.name}{told}{_counts(case.weight)}: {_least(limit_of(task, case, gpu), _amounts(task, case))}"


def _amounts(task: Task, case: Case) -> str:
    """States the bytes and operations of a case."""
    moved, (matrix, scalar, _) = traffic(task.work, case), arithmetic(task.work, case)
    return f"{moved / 1e6:.3g} MB, {(matrix + scalar) / 1e9:.3g} GFLOP"


def _counts(weight: float) -> str:
    """States the weight of a case in the mean; empty for weight 1."""
    return {1.0: "", 2.0: ", counts twice", 0.5: ", counts half"}.get(weight, f", counts {weight:g} times")


def _plain(value: Plain | tuple[Plain, ...]) -> str:
    return f"[{', '.join(map(str, value))}]" if isinstance(value, tuple) else str(value)


def limit_of(task: Task, case: Case, gpu: Gpu) -> Limit | None:
    """The physical limit of a case; None if the task does not declare its work."""
    return physical_limit(task.work, case, gpu, tf32=task.tolerance.tf32)


def limits_us(task: Task, gpu: Gpu) -> dict[str, float | None]:
    """The least time of every timed case, in microseconds; None if the task does not declare its work."""
    found = {case.name: limit_of(task, case, gpu) for case in task.cases_of(Role.TIME)}
    return {name: limit.seconds * 1e6 if limit else None for name, limit in found.items()}


def _least(limit: Limit | None, amounts: str) -> str:
    if limit is None:
        return "limit unknown"
    if limit.seconds < 1e-6:
        return "under 1 µs of work, so the latency of each kernel decides"
    return f"at least {limit.seconds * 1e6:.3g} µs, bound by {_BOUNDS[limit.bound_by]} ({amounts})"


def hidden(task: Task) -> str:
    """States the ranges from which hidden cases are drawn."""
    if not task.ranges or not task.is_general:
        return "Other sizes, which you are not shown, may be checked as well."
    drawn = [f"{name} {_range(limits)}" for name, limits in task.ranges.items()]
    drawn += [f"{arg.name} {_choice(arg.values)}" for arg in task.arguments if isinstance(arg, ScalarArg)]
    return f"Hidden sizes, which you are not shown, in any of the data types: drawn from {', '.join(drawn)}."


def _range(limits: Range) -> str:
    if limits.choices:
        return _choice(limits.choices)
    return f"{limits.low} to {limits.high}" + (f" in steps of {limits.multiple}" if limits.multiple > 1 else "")


def _choice(values: Iterable[Plain | tuple[Plain, ...]]) -> str:
    """Lists all values, as in "in {2, 4}"; a single value as "= 2"."""
    found = list(dict.fromkeys(map(_plain, values)))
    return f"= {found[0]}" if len(found) == 1 else f"in {{{', '.join(found)}}}"


def gradient_layouts(task: Task) -> str | None:
    """Names the non-contiguous layouts of gradients; None if each gradient is a single number, which has one layout."""
    if not any(spec.shape for case in task.cases for spec in output_gradients(task, case)):
        return None
    met = (_layout(task, case) for case in task.cases)
    return " or ".join(dict.fromkeys(_LAYOUTS[layout] for layout in met if layout in _LAYOUTS)) or "with any strides"
