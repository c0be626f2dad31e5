"""Proves a candidate: the library call, which compares its formula with the reference's."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from warpwright.core.calls import elements
from warpwright.core.candidate import Candidate
from warpwright.core.gpus.table import gpu_named
from warpwright.core.task import Case, Draw, Role, Task
from warpwright.emulate.program.build import program
from warpwright.prove.proof import Proof
from warpwright.seal.cache import Store, default_root
from warpwright.seal.refusal import Refused

MOST_ELEMENTS = 1 << 15
"""The largest size of a case that is lifted: each operation takes a hundred times as long as a float's."""
_TIES = "ties"
_MOST_DRAWS = 8


def prove(task: Task, candidate: Candidate, cases: Sequence[Case] | None = None, store: Store | None = None) -> Proof:
    """Compares formulas on small cases of each dtype. Only faults of ours raise."""
    store = store or Store(root=default_root())
    chosen = small_cases(task, task.cases if cases is None else cases)
    if not chosen:
        return Proof(reason=f"no case has at most {MOST_ELEMENTS} elements")
    try:
        built = program(candidate, store, lifted=True)
    except Refused as refused:
        return Proof(reason=f"the lifted program is refused: {refused.refusal.reason}")
    # Loads torch only now: the compiler has answered.
    from warpwright.prove.device import Device
    from warpwright.prove.trial import proved

    device = Device(program=built, gpu=gpu_named(candidate.flags.gpu), store=store, task=task)
    return Proof(cases=tuple(proved(device, case, draws(task, case)) for case in chosen))


def small_cases(task: Task, cases: Sequence[Case]) -> tuple[Case, ...]:
    """For each dtype, the largest check case that is small enough, and one of middle size.

    Where the sizes that were asked for are too large, those that the loader chose stand in.
    """
    small = [case for case in cases if elements(task, case) <= MOST_ELEMENTS]
    checked = [case for case in small if case.role is Role.CHECK]
    by_size = sorted(
        checked or [case for case in small if case.role is Role.ENVELOPE], key=lambda case: elements(task, case)
    )
    chosen = [_two([case for case in by_size if case.dtype == dtype]) for dtype in dict.fromkeys(task.dtypes)]
    return tuple(case for pair in chosen for case in pair)


def _two(by_size: Sequence[Case]) -> Sequence[Case]:
    return [by_size[-1], *([by_size[len(by_size) // 2 - 1]] if len(by_size) > 1 else [])] if by_size else []


def draws(task: Task, case: Case) -> Iterator[Draw]:
    """Ordinary inputs, inputs with ties where the task has such, then more for elements that are still open."""
    usual = task.distributions[0]
    for seed in range(_MOST_DRAWS):
        kind = _TIES if seed == 1 and _TIES in task.distributions else usual
        yield Draw(case=case, distribution=kind, seed=seed)
