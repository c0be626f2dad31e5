"""The emulation rung: runs the candidate on the CPU and checks its results and its use of CUDA."""

from __future__ import annotations

import time

from warpwright import languages
from warpwright.core.climb import Climb
from warpwright.core.codec import encode
from warpwright.core.records.evidence import Evidence, Verdict
from warpwright.core.records.rungs import EMULATE
from warpwright.core.task import Case, Task
from warpwright.emulate.emulation import Emulation
from warpwright.seal.cache import Store
from warpwright.verify.coverage import comparable, gap, not_run
from warpwright.verify.library import execute_on_cpu


class EmulateRung:
    name = EMULATE

    def __init__(self, store: Store | None = None, *, thorough: bool = False) -> None:
        self._store, self._thorough = store, thorough

    def climb(self, climbed: Climb) -> Climb:
        start = time.monotonic()
        language = languages.of(climbed.candidate)
        emulation = language.emulate(
            climbed.task, climbed.candidate, _cases(climbed), self._store, execute_on_cpu, self._thorough
        )
        holds = emulation.verdict is Verdict.HOLDS
        missing = gap(climbed.task, climbed.sealed, emulation.cases, emulation.sampled) if holds else None
        return climbed.with_evidence(
            Evidence(
                candidate=climbed.candidate.id,
                rung=EMULATE,
                verdict=Verdict.UNDECIDED if missing else emulation.verdict,
                reason=missing or emulation.reason,
                counterexample=emulation.counterexample,
                facts=_facts(climbed.task, emulation),
                seconds=time.monotonic() - start,
            )
        )


def _cases(climbed: Climb) -> tuple[Case, ...]:
    """The cases of the climb whose results bear on the requested cases."""
    cases = climbed.task.cases if climbed.cases is None else climbed.cases
    known = cases if climbed.sealed is None else comparable(climbed.task, climbed.sealed)
    return tuple(case for case in cases if case in known)


def _facts(task: Task, emulation: Emulation) -> dict[str, object]:
    """The findings of the emulation besides its verdict, and the cases that it did not run."""
    kept = ("findings", "warnings", "cases", "sampled", "runs", "order_dependent", "counters", "beyond", "rejected")
    facts = {name: value for name, value in encode(emulation).items() if name in kept}
    return {**facts, "not_run": encode(not_run(task, emulation.cases))}
