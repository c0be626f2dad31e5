"""Emulates a candidate: the library call, which needs only a C++ compiler."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from concurrent.futures import ThreadPoolExecutor

from warpwright.core.candidate import Candidate
from warpwright.core.errors import UsageError
from warpwright.core.task import Case, Role, Task
from warpwright.emulate.emulation import Emulation
from warpwright.emulate.program.build import program
from warpwright.emulate.program.runner import Program, Runner
from warpwright.emulate.program.running import Librarian
from warpwright.seal.cache import Store, default_root
from warpwright.seal.capture.trace import BadTrace
from warpwright.seal.refusal import Refused, refuted


def emulate(
    task: Task,
    candidate: Candidate,
    cases: Sequence[Case] | None = None,
    store: Store | None = None,
    library: Librarian | None = None,
    blocks: int | None = None,
    thorough: bool = False,
) -> Emulation:
    """Runs every check case and the edge cases of this kernel. Only faults of ours raise.

    `library` executes torch operations that the host code calls besides its kernels. With `blocks`, large shapes are
    sampled: at most that many blocks of each launch run, and only the elements that they write are compared.
    `thorough` also samples blocks of cases that need minutes.
    """
    store = store or Store(root=default_root())
    with ThreadPoolExecutor(1) as pool:
        building = pool.submit(program, candidate, store)

        def built() -> Program:
            return Program(path=building.result(), gpu=candidate.flags.gpu, store=store, library=library)

        return examined(task, task.cases if cases is None else cases, store, built, blocks=blocks, thorough=thorough)


def examined(
    task: Task,
    cases: Sequence[Case],
    store: Store,
    made: Callable[[], Runner],
    *,
    blocks: int | None = None,
    thorough: bool = False,
) -> Emulation:
    """Examines a runner on check cases and edge cases. It is made while the first truths are."""
    if foreign := [case.name for case in cases if case not in task.cases]:
        raise UsageError(f"{task.key} has no case {foreign[0]}")
    # Loads torch while the compiler works.
    from warpwright.emulate.examination import Examination
    from warpwright.emulate.spot_checks import THOROUGH, USUAL, spot_checked

    checked = tuple(case for case in cases if case.role in (Role.CHECK, Role.ENVELOPE))
    try:
        examination = Examination(task=task, cases=checked, store=store)
        examination.prepare()
        runner = made()
        if blocks is not None:
            return examination.sampled(runner, blocks)
        return spot_checked(examination, runner, examination.of(runner), cases, THOROUGH if thorough else USUAL)
    except Refused as refused:
        refusal = refused.refusal
    except BadTrace as bad:
        refusal = refuted("trace", str(bad)).refusal
    return Emulation(verdict=refusal.verdict, reason=refusal.reason, counterexample=refusal.counterexample)
