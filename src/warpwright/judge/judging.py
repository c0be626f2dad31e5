"""The judge: one candidate after the other, checked, then timed, on the GPU of this machine."""

from __future__ import annotations

import platform
import random
import secrets
import time
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import replace

import torch

from warpwright import __version__
from warpwright.core.codec import encode
from warpwright.core.errors import OurFault, UsageError, WarpwrightError
from warpwright.core.evidence import Counterexample, Evidence, Fault, Verdict
from warpwright.core.gpus import Gpu, gpu_named
from warpwright.core.judged import Job, Judged
from warpwright.core.limit import Bound, Limit, physical_limit
from warpwright.core.measurement import COPY, Cache, Measurement, Scene
from warpwright.core.sealed import Sealed
from warpwright.core.task import Case, Draw, Role, Task
from warpwright.judge import cell, rival
from warpwright.judge.baseline import Baseline
from warpwright.judge.cells import CellFailure, Process
from warpwright.judge.contestant import Contestant, WrongWhileTimed
from warpwright.judge.examine import RUNG, examine, staged
from warpwright.judge.gauge import Gauge
from warpwright.judge.rival import allow_tf32
from warpwright.judge.stopping import Limits
from warpwright.judge.timing import CHAINS, PLAIN_SLOTS, SHORT_US, RivalLost, Series, Subject, contest
from warpwright.judge.truths import Shelf, Truths
from warpwright.oracle.draws import all_draws, check_draws

POOL_BYTES = 8 << 30
FEWEST_SLOTS, CHAIN_SLOTS = 4, 8
SHORT_BYTES = 48 << 20
"""What the fastest memory there is moves in SHORT_US."""


def gpu_is_here() -> bool:
    return torch.cuda.is_available()


class Judge:
    """A GPU, what is known to be true, and the rivals; lives as long as there are candidates."""

    def __init__(self, crate: str | None = None) -> None:
        self._secret = secrets.randbits(48)
        self._generator = random.Random(self._secret)
        self._gauge, self._shelf = Gauge(), Shelf()
        self._rivals: dict[str, Process] = {}
        self._crate = crate
        self.scene = _scene(self._gauge, crate)

    def judge(self, job: Job) -> Judged:
        """Checks, and times what was not refuted. Only our own bugs raise."""
        seconds: dict[str, float] = {}
        evidence: list[Evidence] = []
        measurements: list[Measurement] = []
        faults: list[Fault] = []
        allow_tf32(job.task.tolerance.tf32)
        try:
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
        for process in self._rivals.values():
            process.kill()

    def _examined(self, job: Job, sealed: Sealed) -> Evidence:
        sealed_cases = {plan.case for plan in sealed.plans}
        draws = [draw for draw in check_draws(job.task, self._secret) if draw.case.name in sealed_cases]
        draws += all_draws(job.task, job.hidden, (self._secret,))
        if job.asked.draws_per_check_case is not None:
            draws = draws[: job.asked.draws_per_check_case * len(job.task.cases_of(Role.CHECK))]
        return examine(job.task, sealed, draws, self._shelf.of(job.task), self.scene, self._secret)

    def _timed(self, job: Job, evidence: list[Evidence], faults: list[Fault]) -> Iterator[Measurement]:
        for case in job.task.cases_of(Role.TIME):
            try:
                yield from self._timed_case(job, case, faults)
            except WrongWhileTimed as wrong:
                evidence.append(self._refuted(job, wrong.counterexample))
                return
            except CellFailure as failure:
                found = Counterexample(kind=failure.kind, message=f"while timed: {failure}", case=case.name)
                evidence.append(self._refuted(job, found))
                return

    def _timed_case(self, job: Job, case: Case, faults: list[Fault]) -> Iterator[Measurement]:
        slots = self._slots(job.sealed, case)
        rivals = list(self._baselines(job, case, slots, faults))
        with self._entered(job, case, slots) as contestant:
            subjects: list[Subject] = [*contestant, *rivals]
            if not subjects:
                return
            limits = Limits(seconds=job.asked.seconds_per_case)
            if min(subjects[0].block(Cache.COLD)) < SHORT_US:
                for subject in subjects:
                    subject.chain()
            remembers = contestant[0].remembers() if contestant else None
            share = contestant[0].library_share() if contestant else None
            for cache in job.asked.caches:
                series = contest(subjects, cache, limits, self._gauge)
                slope = contestant[0].slope_us() if contestant and cache is Cache.COLD else None
                for subject in subjects:
                    found = series[subject.name]
                    if found.lost is not None:
                        self._lose_rival(job.task, case, subject.name, found.lost, faults)
                        continue
                    mine = subject in contestant
                    invalid = self._invalid(job.task, case, found, cache, slope if mine else None)
                    invalid = (remembers if mine else None) or invalid
                    taken = _measurement(subject.name, job.task, case, cache, found, self.scene, invalid)
                    yield replace(taken, library_share=share) if mine else taken
            if contestant:
                faults += self._slowed(rivals, case)
        if job.task.id in self._rivals:
            self._rivals[job.task.id].demand("forget")

    def _slowed(self, rivals: Sequence[Baseline], case: Case) -> Iterator[Fault]:
        for rival_ in rivals:
            try:
                why = rival_.slowed()
            except RivalLost:
                continue
            if why is not None:
                yield Fault(where=f"baseline {rival_.name}, {case.name}", message=why)

    @contextmanager
    def _entered(self, job: Job, case: Case, slots: int) -> Iterator[list[Contestant]]:
        """The candidate in a cell of its own, if there is one."""
        if job.sealed is None:
            yield []
            return
        with Process(cell.main) as process:
            draws = [Draw(case=case, seed=self._generator.randrange(2**48))] * slots
            on = staged(process, job.task, job.sealed, draws, Truths(job.task))
            yield [Contestant(job.sealed.manifest.candidate, job.task, case, on, self._generator)]
            on.arena.unmap()

    def _slots(self, sealed: Sealed | None, case: Case) -> int:
        """How many calls are kept ready: more of small ones, which may be so short that they are timed in chains."""
        plans = [plan for plan in sealed.plans if plan.case == case.name] if sealed else []
        size = max(sum(buffer.bytes for plan in plans for buffer in plan.buffers), 1)
        most = CHAINS * CHAIN_SLOTS if size <= SHORT_BYTES else PLAIN_SLOTS
        return min(max(POOL_BYTES // size, FEWEST_SLOTS), most)

    def _baselines(self, job: Job, case: Case, slots: int, faults: list[Fault]) -> Iterator[Baseline]:
        """Those that work here; one that does not is named as absent."""
        ceiling = (COPY,) if job.asked.ceiling and self._moves_memory(job.task, case) else ()
        for name in (*job.baselines, *ceiling):
            try:
                yield Baseline(name, self._rival(job.task), case, slots, self._generator)
            except RivalLost as lost:
                self._lose_rival(job.task, case, name, str(lost), faults)

    def _lose_rival(self, task: Task, case: Case, name: str, why: str, faults: list[Fault]) -> None:
        self._rivals.pop(task.id, None)
        faults.append(Fault(where=f"baseline {name}, {case.name}", message=why))

    def _rival(self, task: Task) -> Process:
        if task.id not in self._rivals:
            for process in self._rivals.values():
                process.kill()
            self._rivals = {task.id: Process(rival.main)}
            self._rivals[task.id].demand("task", task=encode(task))
        return self._rivals[task.id]

    def _refuted(self, job: Job, found: Counterexample) -> Evidence:
        assert job.sealed is not None, "baselines are not judged"
        return Evidence(
            candidate=job.sealed.manifest.candidate,
            rung=RUNG,
            verdict=Verdict.REFUTED,
            counterexample=found,
            scene=self.scene,
        )

    def _invalid(self, task: Task, case: Case, series: Series, cache: Cache, slope_us: float | None) -> str | None:
        """Three clocks must agree: events, our own wall clock, and physics."""
        samples = sorted(sample for block in series.blocks for sample in block)
        if not samples:
            return "no sample was left"
        middle = samples[len(samples) // 2]
        if slope_us is not None and slope_us > 1.3 * middle + 6.0:
            return (
                f"events say {middle:.1f} µs a call, our own clock says {slope_us:.1f}: work outside the timed window"
            )
        limit = self._limit(task, case)
        if limit is not None and cache is Cache.COLD and middle < 0.9e6 * limit.floor_seconds:
            return f"{middle:.1f} µs is below the physical floor of {limit.floor_seconds * 1e6:.1f} µs"
        return None

    def _moves_memory(self, task: Task, case: Case) -> bool:
        limit = self._limit(task, case)
        return limit is not None and limit.bound_by is Bound.MEMORY

    def _limit(self, task: Task, case: Case) -> Limit | None:
        gpu = _known_gpu(self.scene)
        return physical_limit(task.work, case, gpu, tf32=task.tolerance.tf32) if gpu else None


def _measurement(
    name: str, task: Task, case: Case, cache: Cache, series: Series, scene: Scene, invalid: str | None
) -> Measurement:
    return Measurement(
        subject=name,
        task=task.key,
        case=case.name,
        cache=cache,
        samples_us=tuple(sample for block in series.blocks for sample in block),
        blocks=tuple(len(block) for block in series.blocks),
        discards=tuple(series.discards),
        stopped_because=series.stopped_because,
        scene=scene,
        invalid=invalid,
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


def _known_gpu(scene: Scene) -> Gpu | None:
    try:
        return gpu_named(scene.gpu or "")
    except UsageError:
        return None


@contextmanager
def _clocked(seconds: Mapping[str, float], name: str) -> Iterator[None]:
    start = time.perf_counter()
    try:
        yield
    finally:
        seconds[name] = time.perf_counter() - start  # type: ignore[index]
