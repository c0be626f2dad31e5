"""The emulation rung: is the candidate right on the CPU, and does it keep CUDA's rules while it is?"""

from __future__ import annotations

import time
from collections.abc import Sequence

from warpwright.core.candidate import Candidate
from warpwright.core.codec import encode
from warpwright.core.records.evidence import Evidence
from warpwright.core.task import Case, Task
from warpwright.emulate.emulating import emulate
from warpwright.emulate.emulation import Emulation
from warpwright.seal.cache import Store
from warpwright.verify.library import carried_out


class EmulateRung:
    name = "emulate"

    def __init__(self, cases: Sequence[Case] | None = None, store: Store | None = None) -> None:
        self._cases, self._store = cases, store

    def climb(self, task: Task, candidate: Candidate) -> Evidence:
        start = time.monotonic()
        emulation = emulate(task, candidate, self._cases, self._store, carried_out)
        return Evidence(
            candidate=candidate.id,
            rung=self.name,
            verdict=emulation.verdict,
            reason=emulation.reason,
            counterexample=emulation.counterexample,
            facts=_facts(emulation),
            seconds=time.monotonic() - start,
        )


def _facts(emulation: Emulation) -> dict[str, object]:
    """What it shows beyond the verdict."""
    kept = ("findings", "warnings", "cases", "runs", "order_dependent", "counters")
    return {name: value for name, value in encode(emulation).items() if name in kept}
