"""The emulation rung: is the candidate right on the CPU, and does it keep CUDA's rules while it is?"""

from __future__ import annotations

import time
from collections.abc import Sequence

from warpwright.core.candidate import Candidate
from warpwright.core.evidence import Evidence, Verdict
from warpwright.core.task import Case, Task
from warpwright.seal.cache import Store


class EmulateRung:
    name = "emulate"

    def __init__(self, cases: Sequence[Case] | None = None, store: Store | None = None) -> None:
        self._cases, self._store = cases, store

    def climb(self, task: Task, candidate: Candidate) -> Evidence:
        start = time.monotonic()
        return Evidence(
            candidate=candidate.id,
            rung=self.name,
            verdict=Verdict.UNDECIDED,
            reason="the emulator is not here yet",
            skipped=True,
            seconds=time.monotonic() - start,
        )
