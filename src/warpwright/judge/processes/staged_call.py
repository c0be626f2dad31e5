"""One call of a candidate as the judge stages it: places of its buffers, inputs to write, results to read."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

import torch

from warpwright.core.dtypes import dtype_named
from warpwright.core.launch.plan import Plan, View
from warpwright.core.launch.sealed import PREPARE, Sealed, with_prepared
from warpwright.core.records.evidence import Counterexample
from warpwright.core.signature import arranged
from warpwright.core.task import Direction, Draw, Task
from warpwright.judge.gpu.arena import POISON, Arena, Layout, Place
from warpwright.oracle.compare.results import same_bits
from warpwright.oracle.inputs.storage import as_bits, held
from warpwright.oracle.truth.expected import Scenario
from warpwright.oracle.truth.reference import Tensors, tensors_in


@dataclass(frozen=True, slots=True, kw_only=True)
class StagedEntry:
    """One entry of a staged call: its plan and the place of each of its buffers."""

    slot: int
    plan: Plan
    places: dict[int, Place]


@dataclass(frozen=True, slots=True, kw_only=True)
class StagedCall:
    """A draw with memory for every buffer. A training pair has two entries: backward takes what forward saved.

    The entry `prepare`, where a candidate has one, runs before the call and is not part of it.
    """

    draw: Draw
    entries: tuple[StagedEntry, ...]
    inputs: tuple[tuple[Place, torch.Tensor], ...]
    """The judge's copies of the inputs, written before the call and compared after it."""
    mutable: frozenset[int]
    """Positions of the inputs that the task lets the candidate change."""

    @property
    def places(self) -> tuple[Place, ...]:
        """Lists each allocation once; a buffer passed from one entry to the next may begin inside an allocation."""
        every = {place.offset: place for entry in self.entries for place in entry.places.values()}.values()
        return tuple(place for place in every if not any(_begins_in(place, other) for other in every))

    @property
    def slots(self) -> list[int]:
        return [entry.slot for entry in self.entries if entry.plan.entry != PREPARE]

    @property
    def preparing(self) -> list[int]:
        return [entry.slot for entry in self.entries if entry.plan.entry == PREPARE]

    @property
    def prepared(self) -> list[Place]:
        """The places of the results of `prepare`; the call may only read them."""
        return [place for entry in self.entries if entry.plan.entry == PREPARE for place in _returned_places(entry, 0)]


def _begins_in(place: Place, other: Place) -> bool:
    return other.offset < place.offset < other.offset + other.size


def stage(task: Task, sealed: Sealed, draw: Draw, given: Scenario, layout: Layout, first_slot: int) -> StagedCall:
    """Finds a place for every buffer of the call."""
    case = draw.case.name
    entry = "backward" if task.direction is Direction.BACKWARD else "forward"
    if preparation := sealed.preparation(case):
        return _stage_prepared(task, sealed, draw, given, _staged_entry(first_slot, preparation, {}, layout), layout)
    entries = [_staged_entry(first_slot, sealed.plan(case, entry), {}, layout)]
    inputs = [(entries[0].places[number], tensor) for number, tensor in enumerate(_first_arguments(task, draw, given))]
    mutable = _mutable(task, given)
    if task.direction is Direction.TRAINING:
        plan = sealed.plan(case, "backward")
        saved = _handed_on(task, entries[0], len(given.gradients))
        entries.append(_staged_entry(first_slot + 1, plan, saved, layout))
        inputs += [(entries[1].places[number], tensor) for number, tensor in enumerate(given.gradients)]
    return StagedCall(draw=draw, entries=tuple(entries), inputs=tuple(inputs), mutable=mutable)


def _stage_prepared(
    task: Task, sealed: Sealed, draw: Draw, given: Scenario, preparation: StagedEntry, layout: Layout
) -> StagedCall:
    """Stages `prepare` and `forward`; `forward` takes the results of `prepare` in place of the arguments they were made
    from.
    """
    allocate: list[list[Place | None]] = [[None] * len(tensors_in(value)) for value in given.arguments]
    made: list[list[Place | None]] = [[place] for place in _returned_places(preparation, 0)]
    groups = with_prepared(task, allocate, made)
    taken = list(enumerate(place for group in groups for place in group))
    known = {number: place for number, place in taken if place is not None}
    call = _staged_entry(preparation.slot + 1, sealed.plan(draw.case.name, "forward"), known, layout)
    others = [call.places[number] for number, place in taken if place is None]
    inputs = _inputs_of(task, given, preparation, others)
    return StagedCall(draw=draw, entries=(preparation, call), inputs=inputs, mutable=frozenset())


def _inputs_of(
    task: Task, given: Scenario, preparation: StagedEntry, others: Sequence[Place]
) -> tuple[tuple[Place, torch.Tensor], ...]:
    """Pairs the task's tensors, in task order, with their places in the entries that take them."""
    values = dict(zip((argument.name for argument in task.arguments), given.arguments, strict=True))
    names = [name for name in task.prepares for _ in tensors_in(values[name])]
    mine = {name: [preparation.places[i] for i, owner in enumerate(names) if owner == name] for name in task.prepares}
    rest = iter(others)
    found: list[tuple[Place, torch.Tensor]] = []
    for name, value in values.items():
        tensors = tensors_in(value)
        places = mine.get(name) or [next(rest) for _ in tensors]
        found += zip(places, tensors, strict=True)
    return tuple(found)


def refreshed(task: Task, call: StagedCall, draw: Draw, given: Scenario) -> StagedCall:
    """Returns the same call with another draw's inputs in the same places."""
    tensors = _first_arguments(task, draw, given)
    if task.direction is Direction.TRAINING:
        tensors += given.gradients
    places = (place for place, _ in call.inputs)
    return replace(call, draw=draw, inputs=tuple(zip(places, tensors, strict=True)))


def _first_arguments(task: Task, draw: Draw, given: Scenario) -> Tensors:
    """The tensors of the first entry, in the order of its arguments."""
    if task.direction is not Direction.BACKWARD:
        return tensors_in(given.arguments)
    return tensors_in(arranged(task, draw.case, given.gradients, given.saves, given.arguments))


def counterexample(call: StagedCall, kind: str, message: str, facts: Mapping[str, Any] | None = None) -> Counterexample:
    """Builds the counterexample for a call, with what it takes to reproduce it."""
    draw = call.draw
    where = {"distribution": draw.distribution, "dims": dict(draw.case.dims), "dtype": draw.case.dtype}
    return Counterexample(kind=kind, message=message, case=draw.case.name, facts={**where, **(facts or {})})


def write_inputs(call: StagedCall, arena: Arena) -> None:
    """Writes the inputs to their places, in the layout that the task promises."""
    for place, tensor in call.inputs:
        _window(arena, place, tensor).copy_(held(tensor))


def changed_inputs(call: StagedCall, arena: Arena) -> list[int]:
    """Positions of the inputs that a call changed without permission."""
    return [
        number
        for number, (place, tensor) in enumerate(call.inputs)
        if number not in call.mutable and not same_bits(_window(arena, place, tensor), held(tensor))
    ]


def unchanged(call: StagedCall, arena: Arena) -> torch.Tensor:
    """Whether the inputs are unchanged, as a scalar tensor on the GPU, so that many calls can be tested at once."""
    return _as_given(arena, [pair for number, pair in enumerate(call.inputs) if number not in call.mutable])


def untouched(call: StagedCall, arena: Arena) -> torch.Tensor:
    """Whether all memory of a call that has not run is untouched, as a scalar tensor on the GPU."""
    used = {place.offset for place, _ in call.inputs}
    used |= {place.offset for entry in call.entries if entry.plan.entry == PREPARE for place in entry.places.values()}
    clean = [(arena.at(place) == POISON).all() for place in call.places if place.offset not in used]
    return torch.stack([_as_given(arena, call.inputs), *clean]).all()


def _as_given(arena: Arena, inputs: Sequence[tuple[Place, torch.Tensor]]) -> torch.Tensor:
    same = [(as_bits(_window(arena, place, tensor)) == as_bits(held(tensor))).all() for place, tensor in inputs]
    return torch.stack(same).all() if same else torch.ones((), dtype=torch.bool, device=arena.bytes.device)


def read_results(task: Task, call: StagedCall, arena: Arena) -> Tensors:
    """The tensors that the candidate returned and mutated, as views of the arena, in the order of expected values."""
    returned = [_returned(entry, view, arena) for entry in call.entries for view in _task_returns(task, entry)]
    mutated = [_window(arena, *call.inputs[number]) for number in sorted(call.mutable)]
    if task.direction is Direction.TRAINING:
        outputs = len(task.outputs)
        return [*returned[:outputs], *mutated, *returned[outputs:]]
    return [*returned, *mutated]


def read_first(task: Task, call: StagedCall, arena: Arena) -> Tensors:
    """The results of the forward entry of a training pair."""
    entry = call.entries[0]
    return [_returned(entry, view, arena) for view in _task_returns(task, entry)]


def _task_returns(task: Task, entry: StagedEntry) -> tuple[View, ...]:
    """The views that belong to the task's results, without tensors saved for backward and results of `prepare`."""
    if entry.plan.entry == PREPARE:
        return ()
    views = tuple(view for view in entry.plan.returns if isinstance(view, View))
    saving = task.direction is Direction.TRAINING and entry.plan.entry == "forward"
    return views[: len(task.outputs)] if saving else views


def _staged_entry(slot: int, plan: Plan, known: dict[int, Place], layout: Layout) -> StagedEntry:
    """Allocates arguments and scratch, and memory for variables that no kernel uses."""
    places = dict(known)
    for number, buffer in enumerate(plan.buffers):
        if number not in places:
            places[number] = layout.take(buffer.bytes)
    return StagedEntry(slot=slot, plan=plan, places=places)


def _handed_on(task: Task, forward: StagedEntry, gradients: int) -> dict[int, Place]:
    saved = _returned_places(forward, len(task.outputs))
    return {gradients + number: place for number, place in enumerate(saved)}


def _returned_places(entry: StagedEntry, first: int) -> list[Place]:
    """The places of an entry's results, starting from the given index."""
    places = []
    for view in entry.plan.returns[first:]:
        assert isinstance(view, View)
        place = entry.places[view.buffer]
        places.append(Place(offset=place.offset + view.offset, size=place.size - view.offset))
    return places


def _mutable(task: Task, given: Scenario) -> frozenset[int]:
    found, position = set(), 0
    for argument, value in zip(task.arguments, given.arguments, strict=True):
        count = len(tensors_in(value))
        if argument.name in task.mutates:
            found |= set(range(position, position + count))
        position += count
    return frozenset(found)


def _returned(entry: StagedEntry, view: View, arena: Arena) -> torch.Tensor:
    dtype = getattr(torch, dtype_named(view.dtype).torch)
    return arena.tensor(entry.places[view.buffer], view.offset, view.shape, view.stride, dtype)


def _window(arena: Arena, place: Place, tensor: torch.Tensor) -> torch.Tensor:
    real = held(tensor)
    return arena.tensor(place, 0, tuple(real.shape), real.stride(), real.dtype)
