"""The cases of a task in words: what is checked, what is timed, what is hidden, and the least time of each."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Iterator

from warpwright.core.gpus import Gpu
from warpwright.core.limit import Bound, Limit, physical_limit
from warpwright.core.task import Case, Layout, Plain, Role, Task

_BOUNDS = {Bound.MEMORY: "memory", Bound.MATRIX: "matrix operations", Bound.SCALAR: "scalar operations"}
_LAYOUTS = {Layout.EXPANDED: "with stride 0 everywhere", Layout.TRANSPOSED: "with the last two dimensions transposed"}


def checked(task: Task) -> str:
    return "; ".join(_grouped(task.cases_of(Role.CHECK))) or "none"


def timed(task: Task, gpu: Gpu) -> str:
    return "\n".join(_timed(task, case, gpu) for case in task.cases_of(Role.TIME)) or "- none"


def _grouped(cases: Iterable[Case]) -> Iterator[str]:
    """Equal sizes once, with the whole numbers that came with them; types only where they are not the usual ones."""
    groups: dict[tuple[str, Layout], list[Case]] = {}
    for case in cases:
        groups.setdefault((_sizes(case), case.layout), []).append(case)
    types = {key: tuple(dict.fromkeys(case.dtype for case in group)) for key, group in groups.items()}
    usual = Counter(types.values()).most_common(1)
    for (sizes, layout), group in groups.items():
        strides = f", gradients {_LAYOUTS[layout]}" if layout in _LAYOUTS else ""
        only = "" if types[sizes, layout] == usual[0][0] else f" ({', '.join(types[sizes, layout])} only)"
        yield sizes + _numbers(group) + strides + only


def _sizes(case: Case) -> str:
    return " ".join(f"{name}={size}" for name, size in case.dims.items()) or case.name


def _numbers(group: list[Case]) -> str:
    """Scalars that are whole numbers may decide shapes: all values met, as in k=2|4."""
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
    return f"- {case.name}{told}{_counts(case.weight)}: {_least(limit_of(task, case, gpu))}"


def _counts(weight: float) -> str:
    """How much a case counts in the mean, where it is not once."""
    return {1.0: "", 2.0: ", counts twice", 0.5: ", counts half"}.get(weight, f", counts {weight:g} times")


def _plain(value: Plain | tuple[Plain, ...]) -> str:
    return f"[{', '.join(map(str, value))}]" if isinstance(value, tuple) else str(value)


def limit_of(task: Task, case: Case, gpu: Gpu) -> Limit | None:
    return physical_limit(task.work, case, gpu, tf32=task.tolerance.tf32)


def limits_us(task: Task, gpu: Gpu) -> dict[str, float | None]:
    """The least time of every timed case, in microseconds; None where the task does not say what its work is."""
    found = {case.name: limit_of(task, case, gpu) for case in task.cases_of(Role.TIME)}
    return {name: limit.seconds * 1e6 if limit else None for name, limit in found.items()}


def _least(limit: Limit | None) -> str:
    if limit is None:
        return "limit unknown"
    if limit.seconds < 1e-6:
        return "under 1 µs of work, so the latency of each kernel decides"
    return f"at least {limit.seconds * 1e6:.3g} µs, bound by {_BOUNDS[limit.bound_by]}"


def hidden(task: Task) -> str:
    if not task.ranges:
        return "Other sizes, which nobody shows you, may be tried as well."
    ranges = (
        f"{name} in {{{', '.join(map(str, limits.choices))}}}"
        if limits.choices
        else f"{name} {limits.low} to {limits.high}{f' in steps of {limits.multiple}' if limits.multiple > 1 else ''}"
        for name, limits in task.ranges.items()
    )
    return f"Hidden sizes, which nobody shows you, are tried as well; they are drawn from {', '.join(ranges)}."


def gradient_layouts(task: Task) -> str:
    found = dict.fromkeys(_LAYOUTS[case.layout] for case in task.cases if case.layout in _LAYOUTS)
    return " or ".join(found) or "with any strides"
