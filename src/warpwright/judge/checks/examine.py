"""Whether a sealed candidate is right, on this GPU: every draw, twice, in shuffled order, between red zones."""

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
    Visit,
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
    """A cell with a candidate in it and draws laid out in its memory."""

    cell: Worker
    arena: Arena
    visits: tuple[Visit, ...]
    red_zones: torch.Tensor
    """The offset of each of their bytes."""


@contextmanager
def stage_candidate(
    process: Worker, task: Task, sealed: Sealed, draws: Sequence[Draw], references: ReferenceCache
) -> Iterator[StagedCandidate]:
    """Loads the candidate and finds room for everything. Failures here are ours, except loading the cubin."""
    layout, visits, slot = Layout(), [], 0
    for draw in draws:
        visit = stage(task, sealed, draw, references.scenario(draw), layout, slot)
        visits.append(visit)
        slot += len(visit.acts)
    handle = bytes.fromhex(process.demand("arena", size=layout.total)["handle"])
    process.ask("load", CALL_S, sealed=encode(sealed), tf32=task.tolerance.tf32)
    for act in (act for visit in visits for act in visit.acts):
        buffers = {str(number): [place.offset, place.size] for number, place in act.places.items()}
        process.demand("place", slot=act.slot, case=act.plan.case, entry=act.plan.entry, buffers=buffers)
    zones = red_zone_bytes(place for visit in visits for place in visit.places)
    with Arena.mapped(handle, layout.total) as arena:
        yield StagedCandidate(cell=process, arena=arena, visits=tuple(visits), red_zones=zones)


def examine(
    task: Task,
    sealed: Sealed,
    draws: Sequence[Draw],
    references: ReferenceCache,
    workers: WorkerPool,
    scene: Scene,
    secret: int,
) -> Evidence:
    """HOLDS if every draw came out right every time."""
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
    """A call that needs more memory than the card has is the candidate's fault; running out for many calls is ours."""
    room = torch.cuda.get_device_properties(torch.cuda.current_device()).total_memory
    for plan in sealed.plans:
        if (needed := _bytes(plan)) > room:
            message = f"needs {needed / 2**30:.1f} GiB for one call; the GPU has {room / 2**30:.1f}"
            return Counterexample(kind="memory", message=message, case=plan.case)
    return None


def _batches(sealed: Sealed, draws: Sequence[Draw]) -> Iterator[list[Draw]]:
    """As many at a time as fit into a part of the memory."""
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
    """Of all buffers of one call."""
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
            return _rounds(task, staged, references, generator, found)
    except WorkerFailure as failure:
        return Counterexample(kind=failure.kind, message=f"while it was loaded: {failure}")


def _rounds(
    task: Task, staged: StagedCandidate, references: ReferenceCache, generator: random.Random, facts: dict[str, Any]
) -> Counterexample | None:
    first: dict[str, list[torch.Tensor]] = {}
    for restore in (True, False):  # the second time with what the calls before left in the module's variables
        for visit in generator.sample(staged.visits, len(staged.visits)):
            if found := _one(task, staged, visit, generator.randrange(1, 255), restore):
                return found
            results, key = [result.clone() for result in read_results(task, visit, staged.arena)], repr(visit.draw)
            if staged.arena.wrote_elsewhere(visit.places, staged.red_zones):
                return counterexample(visit, "out of bounds", "wrote far outside its buffers")
            if key in first and all(map(same_bits, first[key], results)):
                continue  # right the first time, and nothing else came back
            facts["deterministic"] &= key not in first
            first[key] = results
            if mismatch := references.check(visit.draw, results):
                return counterexample(visit, mismatch.kind, mismatch.message, mismatch.facts)
    return None


def _one(task: Task, staged: StagedCandidate, visit: Visit, pattern: int, restore: bool) -> Counterexample | None:
    """One call: poison, run, look at everything that it should not have touched."""
    staged.arena.reset(staged.red_zones, pattern)
    write_inputs(visit, staged.arena)
    torch.cuda.synchronize()
    try:
        prepared = _prepared(staged, visit, restore) if visit.preparing else []
        early = _act_by_act(task, staged, visit, restore)
    except WorkerFailure as failure:
        return counterexample(visit, failure.kind, str(failure))
    if early and not all(map(same_bits, early, read_first(task, visit, staged.arena))):
        return counterexample(visit, "late", "backward changed what forward had returned")
    if staged.arena.damaged_anywhere(staged.red_zones, pattern):
        damage = staged.arena.damaged((place for other in staged.visits for place in other.places), pattern)
        return counterexample(visit, "out of bounds", _described(visit, damage))
    if not bool(unchanged(visit, staged.arena)):
        changed = changed_inputs(visit, staged.arena)
        return counterexample(visit, "mutation", f"argument {changed[0]} was changed; the task does not allow it")
    if not all(torch.equal(staged.arena.at(place), was) for place, was in zip(visit.prepared, prepared, strict=True)):
        return counterexample(visit, "mutation", "forward changed what prepare had made")
    return None


def _act_by_act(task: Task, staged: StagedCandidate, visit: Visit, restore: bool) -> list[torch.Tensor]:
    """Runs the call. Of a training pair: what forward had returned before backward ran, for others do not wait."""
    *before, last = visit.slots
    early: list[torch.Tensor] = []
    if before:
        staged.cell.ask("run", CALL_S, slots=before, restore=restore)
        early = [result.clone() for result in read_first(task, visit, staged.arena)]
        torch.cuda.synchronize()
    staged.cell.ask("run", CALL_S, slots=[last], restore=restore)
    return early


def _prepared(staged: StagedCandidate, visit: Visit, restore: bool) -> list[torch.Tensor]:
    """What the call finds prepared, to be compared with what it leaves."""
    staged.cell.ask("run", CALL_S, slots=visit.preparing, restore=restore)
    found = [staged.arena.at(place).clone() for place in visit.prepared]
    torch.cuda.synchronize()
    return found


def _described(visit: Visit, damage: list[tuple[Any, int]]) -> str:
    zone, distance = damage[0]
    for act in visit.acts:
        for number, place in act.places.items():
            if zone.offset == place.offset + place.size:
                return f"wrote {distance} bytes past the end of buffer {number} of {act.plan.entry}"
            if zone.offset + zone.size == place.offset:
                return f"wrote {zone.size - distance} bytes before the start of buffer {number} of {act.plan.entry}"
    return "wrote outside its buffers"
