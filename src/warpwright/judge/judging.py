"""The judge: checks candidates one after the other and times those that pass, on the GPU of this machine."""

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
from warpwright.core.records.rungs import JUDGE
from warpwright.core.task import Role
from warpwright.judge.checks.examine import examine
from warpwright.judge.checks.reference_cache import ReferenceCaches
from warpwright.judge.checks.reference_workers import ReferenceWorkers
from warpwright.judge.gpu.precision import allow_tf32
from warpwright.judge.processes import kernel_process
from warpwright.judge.processes.workers import SLOW_IMPORT, WorkerFailure, WorkerPool
from warpwright.judge.timing.case_timing import CaseTimer
from warpwright.judge.timing.nvml import Nvml
from warpwright.judge.timing.timed_candidate import WrongWhileTimed
from warpwright.oracle.inputs.draws import all_draws, check_draws

WORKERS = 3
"""Processes started for a checked candidate: one for the check, one for its first timing, one for the next check."""


def gpu_is_here() -> bool:
    return torch.cuda.is_available()


class Judge:
    """A judge holds a GPU, the expected values and the baselines, for any number of candidates."""

    def __init__(self, crate: str | None = None) -> None:
        import_module(SLOW_IMPORT)  # imported while the fork server starts, not during the first candidate
        self._secret = secrets.randbits(48)
        self._caches, self._crate = ReferenceCaches(), crate
        nvml = Nvml()
        self.scene = _scene(nvml, crate)
        self._workers, self._reference_workers = WorkerPool(kernel_process.main), ReferenceWorkers()
        self._case_timer = CaseTimer(self._workers, nvml, self.scene, random.Random(self._secret))

    def judge(self, job: Job) -> Judged:
        """Checks a candidate and times it unless it was refuted. Only our own bugs raise."""
        seconds: dict[str, float] = {}
        evidence: list[Evidence] = []
        measurements: list[Measurement] = []
        faults: list[Fault] = []
        allow_tf32(job.task.tolerance.tf32)
        try:
            self._case_timer.expect(job)
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
            self._caches.clear()
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
        self._case_timer.close()
        self._workers.close()
        self._reference_workers.close()

    def _examined(self, job: Job, sealed: Sealed) -> Evidence:
        self._workers.start(WORKERS)
        sealed_cases = {plan.case for plan in sealed.plans}
        draws = [draw for draw in check_draws(job.task, self._secret) if draw.case.name in sealed_cases]
        draws += all_draws(job.task, job.hidden, (self._secret,))
        if job.asked.draws_per_check_case is not None:
            draws = draws[: job.asked.draws_per_check_case * len(job.task.cases_of(Role.CHECK))]
        references = self._caches.of(job.task)
        references.prefetch(draws, self._reference_workers)
        return examine(job.task, sealed, draws, references, self._workers, self.scene, self._secret)

    def _timed(self, job: Job, evidence: list[Evidence], faults: list[Fault]) -> Iterator[Measurement]:
        for case in job.task.cases_of(Role.TIME):
            try:
                yield from self._case_timer.timed(job, case, faults)
            except WrongWhileTimed as wrong:
                evidence.append(self._refuted(job, wrong.counterexample))
                return
            except WorkerFailure as failure:
                found = Counterexample(kind=failure.kind, message=f"while timed: {failure}", case=case.name)
                evidence.append(self._refuted(job, found))
                return

    def _refuted(self, job: Job, found: Counterexample) -> Evidence:
        assert job.sealed is not None, "baselines are not judged"
        return Evidence(
            candidate=job.sealed.manifest.candidate,
            rung=JUDGE,
            verdict=Verdict.REFUTED,
            counterexample=found,
            scene=self.scene,
        )


def _scene(nvml: Nvml, crate: str | None) -> Scene:
    clock = nvml.read().sm_mhz
    return Scene(
        machine=platform.machine(),
        python=platform.python_version(),
        torch=torch.__version__,
        gpu=torch.cuda.get_device_name(),
        driver=nvml.driver(),
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
