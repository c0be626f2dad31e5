"""Prints a task for `warpwright tasks show`: arguments, outputs, cases with their limits, the skeleton."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence

from warpwright.app.tasks import limit_of
from warpwright.cli.screen import faint, plain, screen, show_table
from warpwright.core.calls import entries
from warpwright.core.gpus.table import Gpu
from warpwright.core.task import Argument, Case, Direction, Output, Task, TensorArg
from warpwright.languages import Frontend

_RETURNS = {
    Direction.FORWARD: "what the reference returns",
    Direction.BACKWARD: "the gradient of every differentiable tensor argument, in order",
    Direction.TRAINING: "from forward the outputs and what backward needs, from backward the gradients",
}


def show_contract(tasks: Sequence[Task], gpu: Gpu, language: Frontend) -> None:
    """Prints the first task in full and the others by name."""
    task, *others = tasks
    facts = [f"[bold]{plain(task.key)}[/bold]", plain(task.summary), task.family and faint(task.family)]
    screen().print("  ".join(filter(None, facts)))
    show_table(("argument", "shape or values", "dtype", ""), map(_argument_row, task.arguments))
    show_table(("output", "shape", "dtype", ""), _output_rows(task))
    limits = f"least time on {gpu.title}"
    show_table(("case", "role", "share", limits, "bound by"), (_case_row(task, case, gpu) for case in task.cases))
    screen().print(plain(_work(task)))
    is_hidden = task.ranges and task.is_general
    screen().print(f"Hidden cases are drawn from {plain(_ranges(task))}." if is_hidden else "No hidden cases.")
    for entry in entries(task):
        called = f"{entry}({', '.join(language.parameters(task, entry))})"
        screen().print(f"A candidate is one {language.endings[0]} file that exports [bold]{plain(called)}[/bold].")
    screen().print(f"It returns {_RETURNS[task.direction]}; what is not declared as mutated stays unchanged.\n")
    screen().print(language.skeleton(task), markup=False, soft_wrap=True)
    if others:
        screen().print(f"Also: {', '.join(plain(other.key) for other in others)}")


def _argument_row(argument: Argument) -> tuple[str, ...]:
    if not isinstance(argument, TensorArg):
        return plain(argument.name), plain(", ".join(map(str, argument.values))), faint("scalar"), ""
    notes = [
        f"list of {argument.count}" if argument.count is not None else "",
        f"starts as {argument.init}" if argument.init else "",
        f"below {argument.below}" if argument.below is not None else "",
        "" if argument.grad else "no gradient",
    ]
    return plain(argument.name), _shape(argument.shape), plain(argument.dtype), faint(", ".join(filter(None, notes)))


def _output_rows(task: Task) -> Iterator[tuple[str, ...]]:
    for kind, outputs in (("returned", task.outputs), ("saved for backward", task.saves)):
        for output in outputs:
            yield plain(output.name), _shape(output.shape), plain(output.dtype), faint(_compared(kind, output))
    for name in task.mutates:
        yield plain(name), "", "", faint("changed in place")


def _compared(kind: str, output: Output) -> str:
    return kind if output.compare == "value" else f"{kind}, compared by {output.compare}"


def _case_row(task: Task, case: Case, gpu: Gpu) -> tuple[str, ...]:
    limit = limit_of(task, case, gpu)
    share = f"{case.weight:g}" if case.role == "time" else ""
    known = (duration(limit.seconds), plain(limit.bound_by)) if limit else (faint("unknown"), "")
    return plain(case.name), plain(case.role), share, *known


def _work(task: Task) -> str:
    parts = {name: getattr(task.work, name) for name in ("reads", "writes", "matrix", "scalar")}
    shown = ", ".join(f"{name} {formula}" for name, formula in parts.items() if formula != 0)
    if any(case.work for case in task.cases):
        return "Least work: counted from the operations that torch runs, for the sizes that were given."
    return f"Least work (bytes and operations): {shown or 'not declared'}."


def duration(seconds: float) -> str:
    """Formats three significant figures in a suitable unit."""
    for unit, size in (("s", 1.0), ("ms", 1e-3), ("µs", 1e-6)):
        if seconds >= size:
            return f"{seconds / size:.3g} {unit}"
    return "under 1 µs"


def _shape(shape: Iterable[object]) -> str:
    return plain(f"[{', '.join(map(str, shape))}]")


def _ranges(task: Task) -> str:
    shown = (
        f"{name} in {{{', '.join(map(str, limits.choices))}}}"
        if limits.choices
        else f"{name} {limits.low}–{limits.high}"
        for name, limits in task.ranges.items()
    )
    return ", ".join(shown)
