"""The emulation rung: runs the candidate on the CPU and checks its results and its use of CUDA."""

from __future__ import annotations

import time

from warpwright import languages
from warpwright.core.climb import Climb
from warpwright.core.codec import encode
from warpwright.core.records.evidence import Evidence
from warpwright.core.records.rungs import EMULATE
from warpwright.emulate.emulation import Emulation
from warpwright.seal.cache import Store
from warpwright.verify.library import carried_out


class EmulateRung:
    name = EMULATE

    def __init__(self, store: Store | None = None) -> None:
        self._store = store

    def climb(self, climbed: Climb) -> Climb:
        start = time.monotonic()
        language = languages.of(climbed.candidate)
        emulation = language.emulate(climbed.task, climbed.candidate, climbed.cases, self._store, carried_out)
        return climbed.with_evidence(
            Evidence(
                candidate=climbed.candidate.id,
                rung=EMULATE,
                verdict=emulation.verdict,
                reason=emulation.reason,
                counterexample=emulation.counterexample,
                facts=_facts(emulation),
                seconds=time.monotonic() - start,
            )
        )


def _facts(emulation: Emulation) -> dict[str, object]:
    """Returns the findings of the emulation besides its verdict."""
    kept = ("findings", "warnings", "cases", "runs", "order_dependent", "counters")
    return {name: value for name, value in encode(emulation).items() if name in kept}
