"""The ladder: rungs from the cheapest to the dearest, up to the first that refutes."""

from __future__ import annotations

from collections.abc import Sequence

from warpwright.core.candidate import Candidate
from warpwright.core.errors import OurFault
from warpwright.core.protocols import Rung
from warpwright.core.records.evidence import Dossier, Evidence, Fault, Verdict
from warpwright.core.task import Case, Task
from warpwright.verify.emulate import EmulateRung
from warpwright.verify.seal import SealRung
from warpwright.verify.source import SourceRung


def rungs(cases: Sequence[Case] | None = None) -> tuple[Rung, ...]:
    """All there are, in order; on the given cases of a task, or on all of them."""
    return SourceRung(), SealRung(cases), EmulateRung(cases)


def climb(task: Task, candidate: Candidate, ladder: Sequence[Rung] | None = None) -> Dossier:
    """Everything this machine can say of the candidate. A fault of ours ends the climb and is no verdict."""
    evidence: list[Evidence] = []
    faults: list[Fault] = []
    for rung in rungs() if ladder is None else ladder:
        try:
            evidence.append(rung.climb(task, candidate))
        except OurFault as error:
            faults.append(error.fault)
        if faults or evidence[-1].verdict is Verdict.REFUTED:
            break
    return Dossier(candidate=candidate.id, task=task.key, evidence=tuple(evidence), faults=tuple(faults))
