"""What a verdict covers: the requested cases, the reduced cases that replace them, and the kernels that they launch."""

from __future__ import annotations

from collections.abc import Collection, Mapping

from warpwright.core.launch.plan import Launch, Plan
from warpwright.core.launch.sealed import Sealed
from warpwright.core.task import Case, Role, Task

_SHOWN = 160
"""Characters of a kernel's name in a message."""


def not_run(task: Task, ran: Collection[str]) -> dict[str, tuple[str, ...]]:
    """The timed cases that did not run themselves, each with the names of the cases that ran in its place."""
    whole = {_inputs(case) for case in task.cases_of(Role.CHECK) if case.name in ran}
    left = [case for case in task.cases_of(Role.TIME) if _inputs(case) not in whole]
    return {case.name: tuple(_standing_for(task, case, ran)) for case in left}


def gap(task: Task, sealed: Sealed | None, ran: Collection[str], sampled: Collection[str] = ()) -> str | None:
    """Why the cases that ran cannot cover the requested ones; None if they do.

    Of `sampled` cases some blocks ran at least, which checks the kernels that they launch.
    """
    for name, stand_ins in not_run(task, ran).items():
        if not stand_ins and any(case.stands_for == name for case in task.cases):
            return f"{name} is too large to be run on a CPU, and the host code takes no size that could stand for it"
    # For a task that covers its ranges, edge cases of each kernel run too, whose launches are in no plan.
    missing = {} if sealed is None or task.is_general else unchecked_kernels(task, sealed, {*ran, *sampled})
    if not missing:
        return None
    kernel, case = next(iter(missing.items()))
    others = f" (and {len(missing) - 1} more)" if len(missing) > 1 else ""
    return f"case {case} launches {kernel[:_SHOWN]}{others}, which no case that was checked launches"


def unchecked_kernels(task: Task, sealed: Sealed, ran: Collection[str]) -> dict[str, str]:
    """Kernels that a timed case launches and no case that ran launches; each template instance counts separately."""
    checked = {kernel for plan in sealed.plans if plan.case in ran for kernel in _kernels(plan)}
    timed = {case.name for case in task.cases_of(Role.TIME)}
    asked = [(kernel, plan.case) for plan in sealed.plans if plan.case in timed for kernel in _kernels(plan)]
    return {kernel: case for kernel, case in asked if kernel not in checked}


def comparable(task: Task, sealed: Sealed) -> tuple[Case, ...]:
    """The cases to run: reduced ones only if the host code reads their sizes.

    A kernel launched exactly as in the full case has its sizes hard-coded.
    """
    plans = {(plan.case, plan.entry): plan for plan in sealed.plans}
    names = {plan.case for plan in sealed.plans}
    kept = [case for case in task.cases if case.role is Role.ENVELOPE or case.name in names]
    return tuple(case for case in kept if case.stands_for is None or not _is_hard_wired(case, case.stands_for, plans))


def _is_hard_wired(case: Case, asked: str, plans: Mapping[tuple[str, str], Plan]) -> bool:
    pairs = [(plan, plans.get((asked, entry))) for (name, entry), plan in plans.items() if name == case.name]
    launched = [(_launches(plan), _launches(other)) for plan, other in pairs if other is not None]
    return any(own for own, _ in launched) and all(own == other for own, other in launched)


def _launches(plan: Plan) -> list[object]:
    nodes = [node for node in plan.nodes if isinstance(node, Launch)]
    return [(node.kernel, node.grid, node.block, node.shared, node.arguments) for node in nodes]


def _kernels(plan: Plan) -> list[str]:
    return [node.kernel for node in plan.nodes if isinstance(node, Launch)]


def _inputs(case: Case) -> str:
    return repr((dict(case.dims), case.dtype, dict(case.scalars)))


def _standing_for(task: Task, asked: Case, ran: Collection[str]) -> list[str]:
    return [case.name for case in task.cases if case.stands_for == asked.name and case.name in ran]
