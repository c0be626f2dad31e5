"""Emulating a candidate: all it takes is a C++ compiler. What came out is plain data."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, field

from warpwright.core.candidate import Candidate
from warpwright.core.evidence import Counterexample, Verdict
from warpwright.core.plan import Plan
from warpwright.core.sealed import Sealed
from warpwright.core.task import Case, Role, Task
from warpwright.emulate.build import program
from warpwright.emulate.cases import hurting_cases
from warpwright.emulate.findings import Finding
from warpwright.seal.cache import Store, default_root
from warpwright.seal.refusal import Refused, refuted
from warpwright.seal.sealing import seal
from warpwright.seal.trace import BadTrace


@dataclass(frozen=True, slots=True, kw_only=True)
class Emulation:
    """What running a candidate on the CPU has shown."""

    verdict: Verdict
    reason: str | None = None
    counterexample: Counterexample | None = None
    findings: tuple[Finding, ...] = ()
    warnings: tuple[str, ...] = ()
    """What was noticed and is not held against it."""
    cases: tuple[str, ...] = ()
    """Those that ran to the end."""
    runs: int = 0
    order_dependent: tuple[str, ...] = ()
    """Cases in which other orders of threads gave other bits."""
    counters: Mapping[str, int] = field(default_factory=dict)
    """Of the largest case."""
    digest: str | None = None
    """Of every bit of every result: two candidates that share it did the same in all that was tried."""


def emulate(
    task: Task, candidate: Candidate, cases: Sequence[Case] | None = None, store: Store | None = None
) -> Emulation:
    """Runs every check case and those that hurt this kernel. Only our own faults raise."""
    store = store or Store(root=default_root())
    cases = task.cases if cases is None else cases
    checked = tuple(case for case in cases if case.role is Role.CHECK)
    with ThreadPoolExecutor(2) as pool:
        building = pool.submit(program, candidate, store)
        planning = pool.submit(_plans, task, candidate, cases, store)
        # Loads torch while the compilers work.
        from warpwright.emulate.examination import Examination

        try:
            examination = Examination(task=task, cases=checked, gpu=candidate.flags.gpu, store=store)
            examination.prepare()
            dtypes = sorted({case.dtype for case in checked})
            edges = hurting_cases(task, planning.result(), dtypes)
            return examination.of(building.result(), edges)
        except Refused as refused:
            refusal = refused.refusal
        except BadTrace as bad:
            refusal = refuted("trace", str(bad)).refusal
    return Emulation(verdict=refusal.verdict, reason=refusal.reason, counterexample=refusal.counterexample)


def _plans(task: Task, candidate: Candidate, cases: Sequence[Case], store: Store) -> tuple[Plan, ...]:
    """Launch plans, from the store where the seal rung was climbed before; none where it cannot be sealed."""
    sealed = seal(task, candidate, cases, store)
    return sealed.plans if isinstance(sealed, Sealed) else ()
