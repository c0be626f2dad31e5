"""Counts the work of a candidate on a large case: runs a few blocks of a scaled-down case (twin), counts and scales.

Results are not checked. The twin has the same rows, only fewer of them; it must be launched like the sealed plan of the
case, otherwise there is no count. Of each launch a few blocks run: the first, the last and some at random, in several
draws. If the draws disagree, the work depends on the block or on the data, and a sample is not representative.
"""

from __future__ import annotations

import json
import math
from collections.abc import Iterator, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from warpwright.core.calls import entry_calls, results
from warpwright.core.candidate import Candidate
from warpwright.core.codec import CodecError, decode
from warpwright.core.dtypes import dtype_named
from warpwright.core.gpus.table import Gpu, gpu_named
from warpwright.core.launch.plan import Launch, Plan, Triple
from warpwright.core.launch.sealed import Sealed
from warpwright.core.task import Case, Draw, Task
from warpwright.emulate import report
from warpwright.emulate.cost.constants import SECTOR_BYTES
from warpwright.emulate.cost.twin import Twin, tensor_bytes, twin_of
from warpwright.emulate.program.build import program
from warpwright.emulate.program.calls import EmulatedCall, request
from warpwright.emulate.program.running import execute, in_free_arena, run
from warpwright.emulate.report import Report
from warpwright.emulate.staging import Execution, Stage, Trial, staged
from warpwright.sandbox import run as sandbox
from warpwright.seal.cache import Store, default_root
from warpwright.seal.capture.trace import BadTrace
from warpwright.seal.refusal import Refused

BLOCKS = 4
_DRAWS = ((1, 2), (3, 4))
"""The seeds of the draws of each process."""
TWIN_BYTES = 8 << 20
"""The largest size of a twin. Its shadow memory takes up to sixteen times as much."""
_LARGEST_TWIN = 128 << 20
_STEPS = 60_000_000
_SPREAD = 0.8
"""The largest difference of two draws, as a fraction of their mean, for a representative sample."""
_WIDEST_ATOMIC = 16
_MANIFOLD = 2
"""Blocks may write this many times the result and still count as doing only their own work."""
_LIMITS = sandbox.Limits(cpu_s=60.0, wall_s=240.0, memory_bytes=16 << 30, processes=64)


@dataclass(frozen=True, slots=True, kw_only=True)
class LaunchCount:
    """One launch of the whole case. Counters are estimates, by the names of the emulator's contract."""

    kernel: str
    counters: Mapping[str, float]
    block_sectors: float | None
    """The distinct sectors that one block of the twin reads: its working set."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Counted:
    """All launches of a case in order, or the reason why they could not be counted."""

    case: str
    launches: tuple[LaunchCount, ...] = ()
    reason: str | None = None
    times: int = 1
    """The factor by which the twin was smaller."""
    spread: float | None = None
    """The difference of the draws, as a fraction of their mean."""


@dataclass(frozen=True, slots=True, kw_only=True)
class _Launched:
    """One launch as the emulator reports it."""

    kernel: str
    grid: Triple
    block: Triple
    shared: int
    blocks: int
    steps: int
    counters: Mapping[str, int] = field(default_factory=dict)


@dataclass(frozen=True, slots=True, kw_only=True)
class _Sample:
    """One call of the twin with some of its blocks."""

    launches: tuple[_Launched, ...]
    memory: int
    """Bytes of all buffers."""


class _Unknown(Exception):
    """The reason why there is no count, as one sentence."""


def count(
    task: Task, candidate: Candidate, sealed: Sealed, case: Case, *, blocks: int = BLOCKS, store: Store | None = None
) -> Counted:
    """Counts the work of the candidate on this case. Only faults of ours raise."""
    store = store or Store(root=default_root())
    try:
        counting = _Counting(task, program(candidate, store), sealed, case, blocks, store)
        return counting.counted()
    except _Unknown as unknown:
        return Counted(case=case.name, reason=str(unknown))
    except Refused as refused:
        return Counted(case=case.name, reason=refused.refusal.reason or "the candidate cannot be emulated")
    except BadTrace as bad:
        return Counted(case=case.name, reason=str(bad))


class _Counting:
    def __init__(self, task: Task, path: Path, sealed: Sealed, case: Case, blocks: int, store: Store) -> None:
        self._task, self._program, self._sealed, self._case = task, path, sealed, case
        self._blocks, self._store = blocks, store
        self._gpu = gpu_named(sealed.manifest.gpu)
        self._plans = timed_plans(task, case, sealed)

    def counted(self) -> Counted:
        """The count on the smallest twin that is launched like the case itself."""
        if not self._plans:
            raise _Unknown("the candidate was not sealed for this case")
        size, problem = TWIN_BYTES, None
        while size <= _LARGEST_TWIN:
            twin = twin_of(self._task, self._case, size)
            if tensor_bytes(self._task, twin.case) > _LARGEST_TWIN:
                raise _Unknown("no smaller case with the same rows fits into this machine's memory")
            problem = self._unlike(samples := self._samples(twin))
            if problem is None:
                return self._scaled(twin, samples)
            if twin.times == 1:
                break
            size *= 4
        raise _Unknown(problem or "the candidate could not be counted")

    def _samples(self, twin: Twin) -> list[list[_Sample]]:
        """Several draws of blocks for each plan."""
        stage = staged(self._task, Draw(case=twin.case, distribution=self._task.distributions[0], seed=1))
        return [self._drawn(call) for call in self._calls(stage)]

    def _calls(self, stage: Stage) -> Iterator[EmulatedCall]:
        """Yields the timed calls. All blocks run of calls whose results a later call takes."""
        trial = Trial(draw=stage.draw)
        earlier: list[Execution] = []
        for step in stage.steps(prepared=self._sealed.preparation(self._case.name) is not None):
            call = stage.call(step, trial, earlier)
            if call is None:
                raise _Unknown(f"the results of its {earlier[-1].step.entry} could not be computed here")
            if step.hands_over:
                (whole,) = run(self._program, [call], self._gpu, self._store)
                earlier.append(Execution(step=step, call=call, ran=whole))
            if step.is_timed:
                yield call

    def _drawn(self, call: EmulatedCall) -> list[_Sample]:
        """Draws samples; all blocks run if a sample hangs because blocks wait for skipped ones, or if blocks that draw
        their work from a counter do the work of skipped ones."""
        drawn = self._run(call, _DRAWS, self._blocks)
        hangs = any(found.outcome == "stopped" for found, _ in drawn)
        samples = [] if hangs else [_sample(*found) for found in drawn]
        if hangs or any(map(_works_for_others, samples)):
            samples = [_sample(*found) for found in self._run(call, [[1]], None)]
        return samples

    def _run(
        self, call: EmulatedCall, seeds: Sequence[Sequence[int]], blocks: int | None
    ) -> list[tuple[Report, Mapping[str, Any]]]:
        def lines(share: Sequence[int]) -> list[bytes]:
            return _executed(self._program, call, self._gpu, self._store, share, blocks)

        with ThreadPoolExecutor(len(seeds)) as pool:
            written = [line for part in pool.map(lines, seeds) for line in part]
        return [(report.read(line), json.loads(line).get("emulation") or {}) for line in written]

    def _unlike(self, samples: Sequence[Sequence[_Sample]]) -> str | None:
        """The difference between the twin's launches and the case's; None if there is none."""
        for plan, drawn in zip(self._plans, samples, strict=True):
            wanted = [node for node in plan.nodes if isinstance(node, Launch)]
            for sample in drawn:
                if len(wanted) != len(sample.launches):
                    return f"a smaller case takes {len(sample.launches)} launches, this one {len(wanted)}"
                if any(not _alike(*pair) for pair in zip(wanted, sample.launches, strict=True)):
                    return "a smaller case is launched with other kernels, blocks or shared memory"
        return None

    def _scaled(self, twin: Twin, samples: Sequence[Sequence[_Sample]]) -> Counted:
        estimates = [[_estimate(sample, twin.times) for sample in drawn] for drawn in samples]
        spread = max((_spread(drawn) for drawn in samples if len(drawn) > 1), default=None)
        if spread is not None and not spread <= _SPREAD:
            raise _Unknown("blocks differ too much in their work for a few to be representative")
        launches = [_mean(found) for drawn in estimates for found in zip(*drawn, strict=True)]
        self._refuse_blind_samples(launches)
        return Counted(case=self._case.name, launches=tuple(launches), times=twin.times, spread=spread)

    def _refuse_blind_samples(self, launches: Sequence[LaunchCount]) -> None:
        """Refuses samples that write too little: if few blocks do the work, a sample may have missed them."""
        nodes = [node for plan in self._plans for node in plan.nodes]
        owed = sum(spec.numel * dtype_named(spec.dtype).bytes for spec in results(self._task, self._case))
        written = sum(found.counters.get("global_store_bytes", 0.0) for found in launches)
        written += sum(_WIDEST_ATOMIC * found.counters.get("atomics", 0.0) for found in launches)
        if all(isinstance(node, Launch) for node in nodes) and not written >= owed / 2:
            raise _Unknown("the sampled blocks are not representative: they write too little")


def _executed(
    path: Path, call: EmulatedCall, gpu: Gpu, store: Store, seeds: Sequence[int], blocks: int | None
) -> list[bytes]:
    """The program's line for each seed."""

    def attempt(number: int) -> list[bytes]:
        written = _attempted(path, call, gpu, store, seeds, blocks, number)
        return [] if any(report.read(line).lacks_room for line in written) else written

    return in_free_arena(attempt)


def _attempted(
    path: Path, call: EmulatedCall, gpu: Gpu, store: Store, seeds: Sequence[int], blocks: int | None, attempt: int
) -> list[bytes]:
    """Runs some blocks of each launch with counters on, without returning contents."""
    with store.staging() as folder:
        asked = json.loads(request(call, gpu, 0, folder, attempt))
        asked["emulation"] |= {"counters": True, "blocks": blocks, "steps": _STEPS, "outputs": None}
        lines = [{**asked, "emulation": {**asked["emulation"], "seed": seed}} for seed in seeds]
        written, done = execute(path, [json.dumps(line).encode() + b"\n" for line in lines], folder, _LIMITS)
    if len(written) < len(seeds):
        raise _Unknown(f"the emulated program ended early ({done.reason or f'signal {done.signal}'})")
    return written[: len(seeds)]


def _sample(found: Report, data: Mapping[str, Any]) -> _Sample:
    if found.trace.outcome != "captured":
        raise _Unknown(f"the host code does not run on a smaller case: {found.trace.outcome}")
    if found.outcome in ("unsupported", "library"):
        raise _Unknown(f"unsupported: {found.what}")
    if found.outcome == "budget":
        raise _Unknown("a few blocks take more steps than can be counted here")
    if found.outcome != "ran":
        raise _Unknown(f"the emulated program did not run to its end: {found.what or found.outcome}")
    try:
        launches = decode(tuple[_Launched, ...], [_known(item) for item in data.get("launches", [])])
    except (CodecError, TypeError, AttributeError) as error:
        raise BadTrace(f"the output of the emulated program has no launches: {error!s:.200}") from None
    return _Sample(launches=launches, memory=sum(buffer.bytes for buffer in found.trace.buffers))


def _works_for_others(sample: _Sample) -> bool:
    """Whether all blocks, extrapolated from these, would write more memory than there is."""
    sectors = [count.counters.get("unique_store_sectors", 0.0) for count in _estimate(sample, 1)]
    return any(SECTOR_BYTES * written > _MANIFOLD * sample.memory for written in sectors)


def _known(item: Mapping[str, Any]) -> dict[str, Any]:
    return {name: item[name] for name in _Launched.__slots__ if name in item}


def _alike(wanted: Launch, ran: _Launched) -> bool:
    return (_bare(wanted.kernel), wanted.block, wanted.shared) == (_bare(ran.kernel), ran.block, ran.shared)


def _bare(kernel: str) -> str:
    """The name without template arguments and parameters, which two compilers spell differently."""
    name = kernel.partition("(")[0].partition("<")[0].strip()
    return name.rpartition("::")[2].split()[-1] if name.split() else name


def _estimate(sample: _Sample, times: int) -> list[LaunchCount]:
    """Estimates every launch of the whole case."""
    return [_launch(launch, times) for launch in sample.launches]


def _launch(launch: _Launched, times: int) -> LaunchCount:
    scale = math.prod(launch.grid) / max(launch.blocks, 1) * times
    sectors = launch.counters.get("unique_load_sectors")
    return LaunchCount(
        kernel=launch.kernel,
        counters={name: value * scale for name, value in launch.counters.items()},
        block_sectors=None if sectors is None else sectors / max(launch.blocks, 1),
    )


def _mean(found: Sequence[LaunchCount]) -> LaunchCount:
    sectors = [count.block_sectors for count in found if count.block_sectors is not None]
    names = found[0].counters
    return LaunchCount(
        kernel=found[0].kernel,
        counters={name: sum(count.counters.get(name, 0.0) for count in found) / len(found) for name in names},
        block_sectors=sum(sectors) / len(sectors) if sectors else None,
    )


def _spread(drawn: Sequence[_Sample]) -> float:
    """The difference of two draws in steps per block, over all relevant launches."""
    rates = [sum(launch.steps / max(launch.blocks, 1) for launch in sample.launches) for sample in drawn]
    mean = sum(rates) / len(rates)
    return (max(rates) - min(rates)) / mean if mean else 0.0


def timed_plans(task: Task, case: Case, sealed: Sealed) -> list[Plan]:
    """The timed plans of a case, in order; empty if the candidate was not sealed for the case."""
    found = {plan.entry: plan for plan in sealed.plans if plan.case == case.name}
    return [found[call.entry] for call in entry_calls(task, case) if call.entry in found]
