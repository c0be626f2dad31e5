"""Checks a sealed candidate on this GPU: runs every draw twice, in shuffled order, between red zones."""

from __future__ import annotations

import random
import time
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from typing import Any

import torch

from warpwright.core.codec import encode
from warpwright.core.launch.plan import Launch, Plan
from warpwright.core.launch.sealed import Sealed
from warpwright.core.records.evidence import Counterexample, Evidence, Verdict
from warpwright.core.records.measurement import Scene
from warpwright.core.records.rungs import JUDGE
from warpwright.core.task import Draw, Task
from warpwright.judge.checks.reference_cache import ReferenceCache
from warpwright.judge.gpu.arena import Arena, Layout, red_zone_bytes
from warpwright.judge.processes.staged_call import (
    StagedCall,
    changed_inputs,
    counterexample,
    read_first,
    read_results,
    stage,
    unchanged,
    write_inputs,
)
from warpwright.judge.processes.workers import Worker, WorkerFailure, WorkerPool
from warpwright.oracle.compare.results import same_bits

CALL_S = 10.0
BATCH_BYTES = 16 << 30


@dataclass(frozen=True, slots=True, kw_only=True)
class StagedCandidate:
    """A worker process with a loaded candidate and draws laid out in its arena."""

    process: Worker
    arena: Arena
    calls: tuple[StagedCall, ...]
    red_zones: torch.Tensor
    """The offset of every byte of a red zone."""


@contextmanager
def stage_candidate(
    process: Worker, task: Task, sealed: Sealed, draws: Sequence[Draw], references: ReferenceCache
) -> Iterator[StagedCandidate]:
    """Loads the candidate and lays out its buffers. Failures here are our faults, unless the cubin fails to load."""
    layout, calls, slot = Layout(), [], 0
    for draw in draws:
        call = stage(task, sealed, draw, references.scenario(draw), layout, slot)
        calls.append(call)
        slot += len(call.entries)
    handle = bytes.fromhex(process.demand("arena", size=layout.total)["handle"])
    process.ask("load", CALL_S, sealed=encode(sealed), tf32=task.tolerance.tf32)
    for entry in (entry for call in calls for entry in call.entries):
        buffers = {str(number): [place.offset, place.size] for number, place in entry.places.items()}
        process.demand("place", slot=entry.slot, case=entry.plan.case, entry=entry.plan.entry, buffers=buffers)
    zones = red_zone_bytes(place for call in calls for place in call.places)
    with Arena.mapped(handle, layout.total) as arena:
        yield StagedCandidate(process=process, arena=arena, calls=tuple(calls), red_zones=zones)


def examine(
    task: Task,
    sealed: Sealed,
    draws: Sequence[Draw],
    references: ReferenceCache,
    workers: WorkerPool,
    scene: Scene,
    secret: int,
) -> Evidence:
    """Returns HOLDS if every draw gave correct results every time."""
    start = time.perf_counter()
    found: dict[str, Any] = {"draws": len(draws), "rounds": 2, "deterministic": True}
    if not any(isinstance(node, Launch) for plan in sealed.plans for node in plan.nodes):
        found["library_only"] = True
    wrong, generator = too_large(sealed), random.Random(secret)
    for batch in _batches(sealed, draws) if wrong is None else ():
        if wrong is None:
            with workers.borrowed() as process:
                wrong = _examined(process, task, sealed, batch, references, generator, found)
    return Evidence(
        candidate=sealed.manifest.candidate,
        rung=JUDGE,
        verdict=Verdict.REFUTED if wrong else Verdict.HOLDS,
        counterexample=wrong,
        facts=found,
        scene=scene,
        seconds=time.perf_counter() - start,
    )


def too_large(sealed: Sealed) -> Counterexample | None:
    """Refutes a candidate whose single call needs more memory than the GPU has. Running out for many calls is our
    fault.
    """
    room = torch.cuda.get_device_properties(torch.cuda.current_device()).total_memory
    for plan in sealed.plans:
        if (needed := _bytes(plan)) > room:
            message = f"needs {needed / 2**30:.1f} GiB for one call; the GPU has {room / 2**30:.1f}"
            return Counterexample(kind="memory", message=message, case=plan.case)
    return None


def _batches(sealed: Sealed, draws: Sequence[Draw]) -> Iterator[list[Draw]]:
    """Splits the draws into batches that fit into BATCH_BYTES."""
    sizes = {case: call_bytes(sealed, case) for case in {draw.case.name for draw in draws}}
    batch: list[Draw] = []
    for draw in draws:
        if batch and sum(sizes[each.case.name] for each in (*batch, draw)) > BATCH_BYTES:
            yield batch
            batch = []
        batch.append(draw)
    if batch:
        yield batch


def call_bytes(sealed: Sealed, case: str) -> int:
    """Bytes of all buffers of one call."""
    return sum(_bytes(plan) for plan in sealed.plans if plan.case == case)


def _bytes(plan: Plan) -> int:
    return sum(buffer.bytes for buffer in plan.buffers)


def _examined(
    process: Worker,
    task: Task,
    sealed: Sealed,
    draws: Sequence[Draw],
    references: ReferenceCache,
    generator: random.Random,
    found: dict[str, Any],
) -> Counterexample | None:
    try:
        with stage_candidate(process, task, sealed, draws, references) as staged:
            return _rounds(staged, references, generator, found)
    except WorkerFailure as failure:
        return Counterexample(kind=failure.kind, message=f"while it was loaded: {failure}")


def _rounds(
    staged: StagedCandidate, references: ReferenceCache, generator: random.Random, facts: dict[str, Any]
) -> Counterexample | None:
    first: dict[str, list[torch.Tensor]] = {}
    for restore in (True, False):  # the second round keeps the module's variables as the calls before left them
        for call in generator.sample(staged.calls, len(staged.calls)):
            if found := _check_call(staged, call, generator.randrange(1, 255), restore):
                return found
            results, key = [result.clone() for result in read_results(call, staged.arena)], repr(call.draw)
            if staged.arena.wrote_elsewhere(call.places, staged.red_zones):
                return counterexample(call, "out of bounds", "wrote far outside its buffers")
            if key in first and all(map(same_bits, first[key], results)):
                continue  # the first result was correct, and this one has the same bits
            facts["deterministic"] &= key not in first
            first[key] = results
            if mismatch := references.check(call.draw, results):
                return counterexample(call, mismatch.kind, mismatch.message, mismatch.facts)
    return None


def _check_call(staged: StagedCandidate, call: StagedCall, pattern: int, restore: bool) -> Counterexample | None:
    """Checks one call: poisons memory, runs, and compares everything that the call must not change."""
    staged.arena.reset(staged.red_zones, pattern)
    write_inputs(call, staged.arena)
    torch.cuda.synchronize()
    try:
        prepared = _prepared(staged, call, restore) if call.preparing else []
        early = _run_entries(staged, call, restore)
    except WorkerFailure as failure:
        return counterexample(call, failure.kind, str(failure))
    if early and not all(map(same_bits, early, read_first(call, staged.arena))):
        return counterexample(call, "late", "backward changed what forward had returned")
    if staged.arena.damaged_anywhere(staged.red_zones, pattern):
        damage = staged.arena.damaged((place for other in staged.calls for place in other.places), pattern)
        return counterexample(call, "out of bounds", _described(call, damage))
    if not bool(unchanged(call, staged.arena)):
        changed = changed_inputs(call, staged.arena)
        return counterexample(call, "mutation", f"argument {changed[0]} was changed; the task does not allow it")
    if not all(torch.equal(staged.arena.at(place), was) for place, was in zip(call.prepared, prepared, strict=True)):
        return counterexample(call, "mutation", "forward changed what prepare had made")
    return None


def _run_entries(staged: StagedCandidate, call: StagedCall, restore: bool) -> list[torch.Tensor]:
    """Runs the entries of a call. For a training pair, returns copies of the results of forward, taken before backward
    runs: other users may read them at that time.
    """
    *before, last = call.slots
    early: list[torch.Tensor] = []
    if before:
        staged.process.ask("run", CALL_S, slots=before, restore=restore)
        early = [result.clone() for result in read_first(call, staged.arena)]
        torch.cuda.synchronize()
    staged.process.ask("run", CALL_S, slots=[last], restore=restore)
    return early


def _prepared(staged: StagedCandidate, call: StagedCall, restore: bool) -> list[torch.Tensor]:
    """Runs `prepare` and returns copies of its results, to be compared after the call."""
    staged.process.ask("run", CALL_S, slots=call.preparing, restore=restore)
    found = [staged.arena.at(place).clone() for place in call.prepared]
    torch.cuda.synchronize()
    return found


def _described(call: StagedCall, damage: list[tuple[Any, int]]) -> str:
    zone, distance = damage[0]
    for entry in call.entries:
        for number, place in entry.places.items():
            if zone.offset == place.offset + place.size:
                return f"wrote {distance} bytes past the end of buffer {number} of {entry.plan.entry}"
            if zone.offset + zone.size == place.offset:
                return f"wrote {zone.size - distance} bytes before the start of buffer {number} of {entry.plan.entry}"
    return "wrote outside its buffers"
