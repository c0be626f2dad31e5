"""The seal rung: does it compile for the target, is its host code a pure plan, and would the driver launch it?"""

from __future__ import annotations

import time
from collections.abc import Sequence

from warpwright.core.candidate import Candidate
from warpwright.core.codec import encode
from warpwright.core.launch.sealed import Sealed
from warpwright.core.records.evidence import Evidence, Verdict
from warpwright.core.task import Case, Task
from warpwright.seal.cache import Store
from warpwright.seal.refusal import Refusal
from warpwright.seal.sealing import seal
from warpwright.seal.summary import summarise


class SealRung:
    name = "seal"

    def __init__(self, cases: Sequence[Case] | None = None, store: Store | None = None) -> None:
        self._cases, self._store = cases, store

    def climb(self, task: Task, candidate: Candidate) -> Evidence:
        start = time.monotonic()
        outcome = seal(task, candidate, self._cases, self._store)
        seconds = time.monotonic() - start
        if isinstance(outcome, Refusal):
            return _refused(candidate, outcome, seconds)
        return _sealed(candidate, outcome, seconds)


def _refused(candidate: Candidate, refusal: Refusal, seconds: float) -> Evidence:
    return Evidence(
        candidate=candidate.id,
        rung=SealRung.name,
        verdict=refusal.verdict,
        reason=refusal.reason,
        counterexample=refusal.counterexample,
        seconds=seconds,
    )


def _sealed(candidate: Candidate, sealed: Sealed, seconds: float) -> Evidence:
    compiled = sealed.cubin is not None
    return Evidence(
        candidate=candidate.id,
        rung=SealRung.name,
        verdict=Verdict.HOLDS if compiled else Verdict.UNDECIDED,
        reason=None if compiled else "no nvcc here: the launch plan holds, the device code was not compiled",
        skipped=not compiled,
        facts={"artefact": sealed.id, "isolation": sealed.manifest.isolation, "summary": encode(summarise(sealed))},
        seconds=seconds,
    )
