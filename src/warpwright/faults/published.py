"""What the checks of published benchmarks say of a kernel, repeated on the emulator at a size that it can run."""

from __future__ import annotations

from dataclasses import dataclass

from warpwright.core.calls import elements
from warpwright.core.candidate import Candidate
from warpwright.core.records.evidence import Verdict
from warpwright.core.task import Case, Role, Task
from warpwright.emulate.program.build import program
from warpwright.emulate.staging import Stage, Trial
from warpwright.faults.running import Runner, is_undecided, results_of
from warpwright.oracle.inputs.published import PublishedCheck
from warpwright.seal.refusal import Refused

_MOST_ELEMENTS = 1 << 20


@dataclass(frozen=True, slots=True, kw_only=True)
class Repeated:
    """One published check on this machine."""

    check: PublishedCheck
    runner: Runner

    def verdict(self, task: Task, candidate: Candidate) -> Verdict:
        """Undecided if no size is small enough, or the emulator cannot run the kernel."""
        case = _largest(task)
        if case is None:
            return Verdict.UNDECIDED
        try:
            built = program(candidate, self.runner.store)
        except Refused:
            return Verdict.REFUTED
        draws = self.check.draws(task, case)
        stages = [Stage(task=task, draw=draw, given=self.check.scenario(task, draw)) for draw in draws]
        done = self.runner.run(built, stages, [Trial(draw=draw) for draw in draws])
        if any(is_undecided(one.ran) for one in done):
            return Verdict.UNDECIDED
        pairs = zip(stages, map(results_of, stages, done), strict=True)
        right = all(
            results is not None and self.check.accepts(task, stage.draw, stage.given, results)
            for stage, results in pairs
        )
        return Verdict.HOLDS if right else Verdict.REFUTED


def _largest(task: Task) -> Case | None:
    """The requested size that it stands for best: the largest that a CPU can run."""
    cases = [case for case in task.cases_of(Role.CHECK) if elements(task, case) <= _MOST_ELEMENTS]
    return max(cases, key=lambda case: elements(task, case), default=None)
