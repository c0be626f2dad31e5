"""Times one case of a candidate and its baselines, and decides whether each time is valid."""

from __future__ import annotations

import random
from collections.abc import Callable, Iterator, Sequence
from contextlib import ExitStack, contextmanager
from dataclasses import replace

import torch

from warpwright.core.errors import UsageError
from warpwright.core.gpus.limit import Bound, Limit, physical_limit
from warpwright.core.gpus.table import Gpu, gpu_named
from warpwright.core.launch.sealed import Sealed
from warpwright.core.records.evidence import Fault
from warpwright.core.records.judged import Job
from warpwright.core.records.measurement import COPY, Cache, Measurement, Scene
from warpwright.core.task import Case, Draw, Task
from warpwright.judge.baselines.pool import BaselinePool
from warpwright.judge.baselines.timed import TimedBaseline
from warpwright.judge.checks.examine import call_bytes, stage_candidate
from warpwright.judge.checks.reference_cache import ReferenceCache
from warpwright.judge.gpu.free_memory import make_room
from warpwright.judge.gpu.precision import torch_settings
from warpwright.judge.processes.workers import GpuMemoryTaken, WorkerFailure, WorkerPool
from warpwright.judge.timing.interleaving import (
    CHAIN_CALLS,
    CHAINS,
    PLAIN_SLOTS,
    POOL_BYTES,
    DroppedOut,
    Series,
    Timed,
    interleave,
)
from warpwright.judge.timing.nvml import Nvml
from warpwright.judge.timing.stopping import Limits
from warpwright.judge.timing.timed_candidate import TimedCandidate, TimedCompetitor
from warpwright.judge.timing.validity import invalid_reason

CLOCK_CHECKS = 4
"""Wall-clock measurements that must all disagree with the events before a time counts as invalid."""
SHORT_BYTES = 144 << 20
"""Bytes that the fastest memory moves in SHORT_US."""


class CaseTimer:
    """Times cases one after the other; keeps the baseline processes, which serve all candidates of a task."""

    def __init__(self, workers: WorkerPool, nvml: Nvml, scene: Scene, generator: random.Random) -> None:
        self._workers, self._nvml, self._scene, self._generator = workers, nvml, scene, generator
        self._baseline_pool = BaselinePool()

    def close(self) -> None:
        self._baseline_pool.close()

    def expect(self, job: Job) -> None:
        """Starts the baseline processes, which takes seconds in which the candidate can be checked."""
        if job.asked.time:
            self._baseline_pool.start((*job.baselines, *((COPY,) if job.asked.ceiling else ())))

    def timed(self, job: Job, case: Case, faults: list[Fault]) -> Iterator[Measurement]:
        """Times the candidate interleaved with its baselines, or separately if the GPU cannot hold all of them."""
        slots = slots_for(job.sealed, case)
        return together_or_apart(job, case, faults, lambda part: self._together(part, case, slots, faults))

    def _together(self, job: Job, case: Case, slots: int, faults: list[Fault]) -> list[Measurement]:
        """Returns all measurements of a case or none: after running out of memory, the case is timed again from the
        start.
        """
        make_room()
        try:
            baselines = self._baselines(job, case, slots, faults)
            with self._started_candidates(job, case, slots, faults) as entered:
                self._workers.settle()  # processes that start or end would disturb the measurements
                return list(self._measured(job, case, entered, baselines, faults))
        finally:
            self._baseline_pool.forget()

    def _measured(
        self, job: Job, case: Case, entered: list[TimedCandidate], baselines: list[TimedBaseline], faults: list[Fault]
    ) -> Iterator[Measurement]:
        candidates = entered[:1]
        subjects: list[Timed] = [*entered, *baselines]
        if subjects and subjects[0].is_short():
            for subject in subjects:
                subject.chain()
        invalid_reasons = {subject.name: invalid_reason(subject) for subject in candidates}
        shares = {subject.name: subject.library_share() for subject in candidates}
        for cache in job.asked.caches if subjects else ():
            for borrowed in self._interleaved(job, case, cache, subjects, faults):
                invalid = invalid_reasons.get(borrowed.subject) or borrowed.invalid
                yield replace(borrowed, invalid=invalid, library_share=shares.get(borrowed.subject))
        if entered:
            faults += self._slowed(baselines, case)

    def _interleaved(
        self, job: Job, case: Case, cache: Cache, subjects: Sequence[Timed], faults: list[Fault]
    ) -> Iterator[Measurement]:
        series = interleave(subjects, cache, Limits(seconds=job.asked.seconds_per_case), self._nvml)
        for subject in subjects:
            found = series[subject.name]
            if found.lost is not None:
                faults.append(_lost(subject.name, found.lost, case))
                continue
            invalid = self._invalid(job.task, case, found, cache, subject)
            scene = replace(self._scene, settings=torch_settings(job.task.tolerance.tf32))
            measured = _measurement(subject.name, job.task, case, cache, found, scene, invalid)
            yield replace(measured, peak_bytes=subject.peak_bytes)

    def _slowed(self, baselines: Sequence[TimedBaseline], case: Case) -> Iterator[Fault]:
        for baseline in baselines:
            try:
                why = baseline.slowed()
            except DroppedOut:
                continue
            if why is not None:
                yield Fault(where=f"baseline {baseline.name}, {case.name}", message=why)

    @contextmanager
    def _started_candidates(
        self, job: Job, case: Case, slots: int, faults: list[Fault]
    ) -> Iterator[list[TimedCandidate]]:
        """Stages the candidate and its competitors, each in a process of its own."""
        with ExitStack() as stack:
            mine = {job.sealed.manifest.candidate: job.sealed} if job.sealed else {}
            entered = [
                self._started(stack, TimedCandidate, job, case, slots, name, sealed) for name, sealed in mine.items()
            ]
            for name, sealed in job.against.items() if job.sealed else ():
                try:
                    entered.append(self._started(stack, TimedCompetitor, job, case, slots, name, sealed))
                except WorkerFailure as failure:
                    faults.append(_lost(name, failure, case))
            yield entered

    def _started(
        self, stack: ExitStack, kind: type[TimedCandidate], job: Job, case: Case, slots: int, name: str, sealed: Sealed
    ) -> TimedCandidate:
        process = stack.enter_context(self._workers.borrowed())
        draw, references = Draw(case=case, seed=self._generator.randrange(2**48)), ReferenceCache(job.task)
        staged = stack.enter_context(stage_candidate(process, job.task, sealed, [draw] * slots, references))
        return kind(name, job.task, staged, references.scenario(draw), self._generator)

    def _baselines(self, job: Job, case: Case, slots: int, faults: list[Fault]) -> list[TimedBaseline]:
        """Prepares the baselines; those that do not work are recorded as faults."""
        names = (*job.baselines, *((COPY,) if job.asked.ceiling and self._moves_memory(job.task, case) else ()))
        if names:
            self._workers.settle()  # baselines are first timed alone
        found: list[TimedBaseline] = []
        for item in self._baseline_pool.prepared(names, job.task, case, slots, self._generator):
            if isinstance(item, TimedBaseline):
                found.append(item)
            else:
                faults.append(_lost(*item, case))
        return found

    def _invalid(self, task: Task, case: Case, series: Series, cache: Cache, subject: Timed) -> str | None:
        """Compares three clocks: CUDA events, the wall clock and the physical limit. Returns why they disagree, or
        None.
        """
        samples = sorted(sample for block in series.blocks for sample in block)
        if not samples:
            return "no sample was left"
        middle = samples[len(samples) // 2]
        if cache is Cache.COLD and (slope_us := slope_disagreement(subject, middle)) is not None:
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
        gpu = _known_gpu(self._scene)
        return physical_limit(task.work, case, gpu, tf32=task.tolerance.tf32) if gpu else None


def together_or_apart(
    job: Job, case: Case, faults: list[Fault], timed: Callable[[Job], list[Measurement]]
) -> Iterator[Measurement]:
    """Times a job as a whole, or the candidate and its baselines one after the other if GPU memory runs out.

    Separately timed measurements leave a fault that says so.
    """
    found = len(faults)
    try:
        yield from timed(job)
        return
    except (torch.OutOfMemoryError, GpuMemoryTaken):
        if job.sealed is None or not job.baselines:
            raise
    del faults[found:]
    faults.append(Fault(where=f"baselines, {case.name}", message="timed apart: the card does not hold all at once"))
    alone = replace(job.asked, baselines=(), ceiling=False)
    for part in (replace(job, asked=alone), replace(job, sealed=None)):
        yield from timed(part)


def slope_disagreement(subject: Timed, middle_us: float) -> float | None:
    """The time by the wall clock if every look exceeds the events' time by far, else None: a busy machine delays some
    looks.
    """
    for _ in range(CLOCK_CHECKS):
        slope_us = subject.slope_us()
        if slope_us is None or slope_us <= 1.3 * middle_us + 6.0:
            return None
    return slope_us


def slots_for(sealed: Sealed | None, case: Case) -> int:
    """The number of calls kept ready: more of small ones, which may be short enough to be timed in chains."""
    size = max(call_bytes(sealed, case.name), 1) if sealed else 1
    most = CHAINS * CHAIN_CALLS if size <= SHORT_BYTES else PLAIN_SLOTS
    return min(max(POOL_BYTES // size, 1), most)


def _lost(name: str, why: object, case: Case) -> Fault:
    return Fault(where=f"baseline {name}, {case.name}", message=str(why))


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


def _known_gpu(scene: Scene) -> Gpu | None:
    try:
        return gpu_named(scene.gpu or "")
    except UsageError:
        return None
