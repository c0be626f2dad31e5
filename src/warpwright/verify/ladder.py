"""The ladder: rungs from the cheapest to the most expensive, up to the first that refutes."""

from __future__ import annotations

from collections.abc import Sequence

from warpwright.core.candidate import Candidate
from warpwright.core.climb import Climb
from warpwright.core.errors import OurFault
from warpwright.core.protocols import Rung
from warpwright.core.task import Case, Task
from warpwright.verify.emulate import EmulateRung
from warpwright.verify.own_task import TaskRung
from warpwright.verify.prove import ProveRung
from warpwright.verify.seal import SealRung
from warpwright.verify.source import SourceRung


def rungs(*, trust_task: bool = False, thorough: bool = False, prove: bool = False) -> tuple[Rung, ...]:
    """Returns the rungs that need only this machine, in order. A trusted task is not tried first; thorough rungs may
    take minutes. The proof, which compiles the candidate once more, is climbed on request.
    """
    tried = () if trust_task else (TaskRung(),)
    return SourceRung(), *tried, SealRung(), EmulateRung(thorough=thorough), *((ProveRung(),) if prove else ())


def climb(
    task: Task, candidate: Candidate, cases: Sequence[Case] | None = None, ladder: Sequence[Rung] | None = None
) -> Climb:
    """Verifies a candidate on the given cases of its task, by default on all, as far as this machine can."""
    start = Climb(task=task, candidate=candidate, cases=None if cases is None else tuple(cases))
    return climb_on(start, rungs() if ladder is None else ladder)


def climb_on(climbed: Climb, ladder: Sequence[Rung]) -> Climb:
    """Continues a climb with further rungs. A fault of ours ends it and is not a verdict."""
    for rung in ladder:
        if climbed.is_over:
            break
        try:
            climbed = rung.climb(climbed)
        except OurFault as error:
            climbed = climbed.with_fault(error.fault)
    return climbed
