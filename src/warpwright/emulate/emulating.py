"""Emulating a candidate, the library call: all it takes is a C++ compiler."""

from __future__ import annotations

from collections.abc import Sequence
from concurrent.futures import ThreadPoolExecutor

from warpwright.core.candidate import Candidate
from warpwright.core.plan import Plan
from warpwright.core.sealed import Sealed
from warpwright.core.task import Case, Role, Task
from warpwright.emulate.build import program
from warpwright.emulate.cases import hurting_cases
from warpwright.emulate.emulation import Emulation
from warpwright.seal.cache import Store, default_root
from warpwright.seal.refusal import Refused, refuted
from warpwright.seal.sealing import seal
from warpwright.seal.trace import BadTrace


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
