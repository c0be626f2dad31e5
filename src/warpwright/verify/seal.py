"""The seal rung: whether the source compiles for the target, its host code gives a plan, and the driver would launch
it.
"""

from __future__ import annotations

import time

from warpwright import languages
from warpwright.core.candidate import Candidate
from warpwright.core.climb import Climb
from warpwright.core.codec import encode
from warpwright.core.launch.sealed import Sealed
from warpwright.core.records.evidence import Evidence, Verdict
from warpwright.core.records.rungs import SEAL
from warpwright.seal.cache import Store
from warpwright.seal.refusal import Refusal
from warpwright.seal.summary import summarise


class SealRung:
    name = SEAL

    def __init__(self, store: Store | None = None) -> None:
        self._store = store

    def climb(self, climbed: Climb) -> Climb:
        """Seals the candidate and adds the artefact to the climb, for later rungs."""
        start = time.monotonic()
        outcome = languages.seal(climbed.task, climbed.candidate, climbed.cases, self._store)
        seconds = time.monotonic() - start
        if isinstance(outcome, Refusal):
            return climbed.with_evidence(_refused(climbed.candidate, outcome, seconds))
        return climbed.with_evidence(_sealed(climbed.candidate, outcome, seconds), outcome)


def _refused(candidate: Candidate, refusal: Refusal, seconds: float) -> Evidence:
    return Evidence(
        candidate=candidate.id,
        rung=SEAL,
        verdict=refusal.verdict,
        reason=refusal.reason,
        counterexample=refusal.counterexample,
        seconds=seconds,
    )


def _sealed(candidate: Candidate, sealed: Sealed, seconds: float) -> Evidence:
    compiled = sealed.cubin is not None
    summary = summarise(sealed)
    return Evidence(
        candidate=candidate.id,
        rung=SEAL,
        verdict=Verdict.HOLDS if compiled else Verdict.UNDECIDED,
        reason=None if compiled else "nvcc not found: the launch plan holds, the device code was not compiled",
        skipped=not compiled,
        facts={
            "artefact": sealed.id,
            "isolation": sealed.manifest.isolation,
            "summary": encode(summary),
            **({"warnings": list(summary.warnings)} if summary.warnings else {}),
        },
        seconds=seconds,
    )
