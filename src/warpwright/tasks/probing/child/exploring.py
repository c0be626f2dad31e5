"""All findings about one function: given sizes, reduced and small sizes, and usable distributions."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import replace
from typing import TypeVar

from warpwright.core.errors import TaskError
from warpwright.tasks.probing.child.observing import Subject
from warpwright.tasks.probing.child.sizes.shrinking import in_function_order, representatives, small_runs
from warpwright.tasks.probing.child.sizes.sizing import free_sizes
from warpwright.tasks.probing.child.user_file import as_task_errors
from warpwright.tasks.probing.child.values import DRAWS, elements
from warpwright.tasks.probing.seen import Findings, Job, Run, Seen, TensorSeen

S = TypeVar("S", bound=Subject)
Prepare = Callable[[str], tuple[S, tuple[Seen, ...]]]
_FEW = 2**18


def explored(job: Job, what: str, prepare: Prepare[Subject]) -> Findings:
    subject, arguments, given = first(job, what, prepare)
    return concluded(subject, arguments, [given])


def concluded(subject: Subject, arguments: tuple[Seen, ...], given: Sequence[Run]) -> Findings:
    """Derives the findings from the runs with given sizes; further questions use the smallest run, the cheapest one."""
    free = free_sizes(subject, arguments)
    given = [replace(run, number=number) for number, run in enumerate(given)]
    runs = [*given, *representatives(subject, arguments, given, free), *small_runs(subject, arguments, free)]
    alike = [run for run in runs if len(run.outputs) == len(given[0].outputs)]
    least = min((in_function_order(run, arguments) for run in alike), key=elements)
    ignored = _ignored(subject, [in_function_order(run, arguments) for run in alike])
    given = [_measured(subject, run, in_function_order(run, arguments), ignored) for run in given]
    flowing = zip(given[0].outputs, subject.flows(least), strict=True)
    outputs = tuple(replace(seen, grad=seen.grad and flows) for seen, flows in flowing)
    return Findings(
        runs=(replace(given[0], outputs=outputs), *given[1:], *runs[len(given) :]),
        style="module" if subject.module else "function",
        state=tuple(subject.state),
        mutates=subject.mutates(least),
        distributions=usable_distributions(subject, arguments, runs),
    )


def _ignored(subject: Subject, tried: Sequence[tuple[Seen, ...]]) -> tuple[str, ...]:
    """Returns the arguments whose values do not change the results, found with data on the largest cheap run."""
    cheap = [sizes for sizes in tried if elements(sizes) <= _FEW]
    largest = max(cheap, key=elements, default=None)
    if largest is None or not subject.gives_finite_results(largest):
        return ()
    return subject.ignores(largest)


def _measured(subject: Subject, run: Run, arguments: tuple[Seen, ...], ignored: tuple[str, ...]) -> Run:
    """Adds the least work of a forward call; what a backward pass needs is stated by no run."""
    return run if run.saves else replace(run, work=subject.least_work(arguments, ignored))


def first(job: Job, what: str, prepare: Prepare[S]) -> tuple[S, tuple[Seen, ...], Run]:
    """Runs the function without data or, if it reads values, with data."""
    remedy = "correct the file, or give it inputs that it accepts"
    for device in ("meta", "cpu"):
        try:
            with as_task_errors(job, what, remedy):
                subject, arguments = prepare(device)
                return subject, arguments, subject.run(arguments)
        except TaskError as error:
            if device == "cpu" or not _needs_data(error):
                raise
    raise AssertionError("the CPU either returns or raises")


def _needs_data(error: TaskError) -> bool:
    return "meta" in error.problem or error.problem.startswith("NotImplementedError")


def usable_distributions(subject: Subject, arguments: tuple[Seen, ...], runs: Sequence[Run]) -> tuple[str, ...]:
    """Returns the file's own distribution, and every other one with finite results on the largest small run."""
    drawn = [seen.draw for seen in arguments if isinstance(seen, TensorSeen) and seen.draw and not seen.init]
    own = "unit" if drawn and all(draw == "unit" for draw in drawn) else "normal"
    resized = [in_function_order(run, arguments) for run in runs]
    tried = [sizes for sizes in resized if elements(sizes) <= _FEW]
    if not drawn or not tried:
        return (own,)
    largest = max(tried, key=elements)
    return (own, *(name for name in DRAWS if name != own and subject.gives_finite_results(largest, name)))
