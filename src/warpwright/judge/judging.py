"""The judge: one candidate after the other, checked, then timed, on the GPU of this machine."""

from __future__ import annotations

import platform
import random
import secrets
import time
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from importlib import import_module

import torch

from warpwright import __version__
from warpwright.core.errors import OurFault, WarpwrightError
from warpwright.core.launch.sealed import Sealed
from warpwright.core.records.evidence import Counterexample, Evidence, Fault, Verdict
from warpwright.core.records.judged import Job, Judged
from warpwright.core.records.measurement import Measurement, Scene
from warpwright.core.task import Role
from warpwright.judge.checks.examine import RUNG, examine
from warpwright.judge.checks.reference_cache import Shelf
from warpwright.judge.checks.reference_workers import Scribes
from warpwright.judge.contestant import WrongWhileTimed
from warpwright.judge.gpu.precision import allow_tf32
from warpwright.judge.processes import kernel_process as cell
from warpwright.judge.processes.workers import LATE, CellFailure, Spares
from warpwright.judge.timing.case_timing import Timekeeper
from warpwright.judge.timing.nvml import Gauge
from warpwright.oracle.inputs.draws import all_draws, check_draws

AT_ONCE = 3
"""Cells of a candidate that is checked: for that, for its first timing, and one for the check of whoever comes next."""


def gpu_is_here() -> bool:
    return torch.cuda.is_available()


class Judge:
    """A GPU, what is known to be true, and the rivals; lives as long as there are candidates."""

    def __init__(self, crate: str | None = None) -> None:
        import_module(LATE)  # now, while the nursery starts, and not amid the first candidate
        self._secret = secrets.randbits(48)
        self._shelf, self._crate = Shelf(), crate
        gauge = Gauge()
        self.scene = _scene(gauge, crate)
        self._cells, self._scribes = Spares(cell.main), Scribes()
        self._timekeeper = Timekeeper(self._cells, gauge, self.scene, random.Random(self._secret))

    def judge(self, job: Job) -> Judged:
        """Checks, and times what was not refuted. Only our own bugs raise."""
        seconds: dict[str, float] = {}
        evidence: list[Evidence] = []
        measurements: list[Measurement] = []
        faults: list[Fault] = []
        allow_tf32(job.task.tolerance.tf32)
        try:
            self._timekeeper.expect(job)
            if job.asked.check and job.sealed is not None:
                with _clocked(seconds, "check"):
                    evidence.append(self._examined(job, job.sealed))
            if job.asked.time and all(item.verdict is not Verdict.REFUTED for item in evidence):
                with _clocked(seconds, "time"):
                    measurements += self._timed(job, evidence, faults)
        except OurFault as fault:
            faults.append(fault.fault)
        except torch.OutOfMemoryError as error:
            faults.append(Fault(where="judge", message=str(error).splitlines()[0], retryable=True))
            self._shelf.clear()
            torch.cuda.empty_cache()
        except WarpwrightError as error:
            faults.append(Fault(where="judge", message=str(error)))
        return Judged(
            job=job.id,
            label=job.label,
            task=job.task.key,
            candidate=job.sealed.manifest.candidate if job.sealed else "",
            evidence=tuple(evidence),
            measurements=tuple(measurements),
            faults=tuple(faults),
            seconds=seconds,
            crate=self._crate,
        )

    def close(self) -> None:
        self._timekeeper.close()
        self._cells.close()
        self._scribes.close()

    def _examined(self, job: Job, sealed: Sealed) -> Evidence:
        self._cells.start(AT_ONCE)
        sealed_cases = {plan.case for plan in sealed.plans}
        draws = [draw for draw in check_draws(job.task, self._secret) if draw.case.name in sealed_cases]
        draws += all_draws(job.task, job.hidden, (self._secret,))
        if job.asked.draws_per_check_case is not None:
            draws = draws[: job.asked.draws_per_check_case * len(job.task.cases_of(Role.CHECK))]
        truths = self._shelf.of(job.task)
        truths.foresee(draws, self._scribes)
        return examine(job.task, sealed, draws, truths, self._cells, self.scene, self._secret)

    def _timed(self, job: Job, evidence: list[Evidence], faults: list[Fault]) -> Iterator[Measurement]:
        for case in job.task.cases_of(Role.TIME):
            try:
                yield from self._timekeeper.timed(job, case, faults)
            except WrongWhileTimed as wrong:
                evidence.append(self._refuted(job, wrong.counterexample))
                return
            except CellFailure as failure:
                found = Counterexample(kind=failure.kind, message=f"while timed: {failure}", case=case.name)
                evidence.append(self._refuted(job, found))
                return

    def _refuted(self, job: Job, found: Counterexample) -> Evidence:
        assert job.sealed is not None, "baselines are not judged"
        return Evidence(
            candidate=job.sealed.manifest.candidate,
            rung=RUNG,
            verdict=Verdict.REFUTED,
            counterexample=found,
            scene=self.scene,
        )


def _scene(gauge: Gauge, crate: str | None) -> Scene:
    clock = gauge.read().sm_mhz
    return Scene(
        machine=platform.machine(),
        python=platform.python_version(),
        torch=torch.__version__,
        gpu=torch.cuda.get_device_name(),
        driver=gauge.driver(),
        clocks_mhz={} if clock is None else {"sm": clock},
        warpwright=__version__,
        crate=crate,
    )


@contextmanager
def _clocked(seconds: Mapping[str, float], name: str) -> Iterator[None]:
    start = time.perf_counter()
    try:
        yield
    finally:
        seconds[name] = time.perf_counter() - start  # type: ignore[index]
