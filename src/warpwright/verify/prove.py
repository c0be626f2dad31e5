"""The proof rung: decides in lifted numbers whether the candidate computes the formula of its reference."""

from __future__ import annotations

import time

from warpwright import languages
from warpwright.core.climb import Climb
from warpwright.core.codec import encode
from warpwright.core.records.evidence import Evidence, Verdict
from warpwright.core.records.rungs import PROVE
from warpwright.prove.proof import Grade, Proof
from warpwright.seal.cache import Store

_VERDICTS = {
    Grade.EQUAL: Verdict.HOLDS,
    Grade.DIFFERENT: Verdict.REFUTED,
    Grade.UNSUPPORTED: Verdict.UNDECIDED,
}


class ProveRung:
    """A formula that differs refutes; one that cannot be decided leaves the verdict to the other rungs."""

    name = PROVE

    def __init__(self, store: Store | None = None) -> None:
        self._store = store

    def climb(self, climbed: Climb) -> Climb:
        start = time.monotonic()
        language = languages.of(climbed.candidate)
        proof = language.prove(climbed.task, climbed.candidate, climbed.cases, self._store)
        return climbed.with_evidence(
            Evidence(
                candidate=climbed.candidate.id,
                rung=PROVE,
                verdict=_VERDICTS[proof.grade],
                reason=f"unsupported: {proof.unsupported}" if proof.grade is Grade.UNSUPPORTED else None,
                counterexample=proof.counterexample,
                facts=_facts(proof),
                seconds=time.monotonic() - start,
            )
        )


def _facts(proof: Proof) -> dict[str, object]:
    return {"grade": proof.grade.value, "proof": encode(proof)}
