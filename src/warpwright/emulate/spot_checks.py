"""Runs a few blocks of each launch at requested sizes that are too large to be run whole.

The first, the last and some random blocks run on the real inputs, and the elements that they write are compared. So a
kernel that does something else at its real size than at the sizes that stand for it is found wherever its blocks do not
depend on each other; where they do, the sample says nothing.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace

from warpwright.core.calls import elements
from warpwright.core.gpus.limit import arithmetic
from warpwright.core.records.evidence import Verdict
from warpwright.core.task import Case, Draw, Role
from warpwright.emulate.emulation import Emulation
from warpwright.emulate.examination import Examination
from warpwright.emulate.program.runner import Runner
from warpwright.emulate.truths import Truths
from warpwright.oracle.truth.expected import FEW_RUNS, HONEST_RUNS

_BLOCKS = 8


@dataclass(frozen=True, slots=True, kw_only=True)
class Reach:
    """The largest cases whose inputs and expected results are made for a sample of blocks."""

    elements: int
    operations: int

    def includes(self, examination: Examination, case: Case) -> bool:
        most = elements(examination.task, case) <= self.elements
        return most and arithmetic(examination.task.work, case)[0] <= self.operations


USUAL = Reach(elements=1 << 24, operations=1 << 32)
THOROUGH = Reach(elements=1 << 28, operations=1 << 36)
"""Minutes, and gigabytes of memory."""


def spot_checked(
    examination: Examination, runner: Runner, held: Emulation, cases: Sequence[Case], reach: Reach
) -> Emulation:
    """Returns the emulation with what a sample of blocks of each large case adds to it."""
    if held.verdict is not Verdict.HOLDS:
        return held
    seen: list[str] = []
    for case in _not_run(examination, cases):
        if reach.includes(examination, case):
            found = _sampled(examination, runner, case)
            if found.verdict is Verdict.REFUTED:
                return replace(held, verdict=Verdict.REFUTED, counterexample=found.counterexample)
            seen += [case.name] if found.verdict is Verdict.HOLDS else []
    return replace(held, sampled=tuple(seen))


def _not_run(examination: Examination, cases: Sequence[Case]) -> Iterator[Case]:
    """The timed cases that only others stand for."""
    replaced = {case.stands_for for case in examination.cases} - {None}
    return (case for case in cases if case.role is Role.TIME and case.name in replaced)


def _sampled(examination: Examination, runner: Runner, case: Case) -> Emulation:
    """Compares with the budget of few honest runs, which is a third of the work, and with the whole one if it fails."""
    task = examination.task
    draw = Draw(case=case, distribution=task.distributions[0])
    for runs in (FEW_RUNS, HONEST_RUNS):
        examination.truths = Truths(task=task, store=examination.store, runs=runs)
        found = examination.sampled(runner, _BLOCKS, [draw])
        if found.verdict is not Verdict.REFUTED:
            break
    return found
