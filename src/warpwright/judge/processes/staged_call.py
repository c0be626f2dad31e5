"""One call of a candidate as the judge stages it: places of its buffers, inputs to write, results to read."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

import torch

from warpwright.core.calls import EntryCall, bound, entry_calls
from warpwright.core.dtypes import dtype_named
from warpwright.core.launch.plan import Plan, View
from warpwright.core.launch.sealed import Sealed
from warpwright.core.records.evidence import Counterexample
from warpwright.core.task import Draw, Task
from warpwright.judge.gpu.arena import POISON, Arena, Layout, Place
from warpwright.oracle.compare.results import same_bits
from warpwright.oracle.inputs.storage import as_bits, held
from warpwright.oracle.truth.expected import Scenario
from warpwright.oracle.truth.reference import Tensors, tensors_in


@dataclass(frozen=True, slots=True, kw_only=True)
class StagedEntry:
    """One entry of a staged call: its plan and the place of each of its buffers."""

    slot: int
    step: EntryCall
    plan: Plan
    places: dict[int, Place]

    @property
    def handed_over(self) -> list[Place]:
        """The places of the tensors that it returns for a later entry."""
        return [self._place_of(value) for value in self.step.handed_over(self.plan.returns)]

    @property
    def required(self) -> list[View]:
        """The results that the task compares."""
        return [value for value in self.step.required(self.plan.returns) if isinstance(value, View)]

    def _place_of(self, value: object) -> Place:
        assert isinstance(value, View)
        place = self.places[value.buffer]
        return Place(offset=place.offset + value.offset, size=place.size - value.offset)


@dataclass(frozen=True, slots=True, kw_only=True)
class StagedCall:
    """A draw with memory for every buffer. A training pair has two entries: backward takes what forward saved.

    The entry `prepare`, where a candidate has one, runs before the call and is not part of it.
    """

    draw: Draw
    entries: tuple[StagedEntry, ...]
    inputs: tuple[tuple[Place, torch.Tensor], ...]
    """The judge's copies of the inputs, written before the call and compared after it."""

    @property
    def mutable(self) -> tuple[int, ...]:
        """Positions of the inputs that the task lets the candidate change, in the order in which they are compared."""
        return self.entries[0].step.mutates

    @property
    def places(self) -> tuple[Place, ...]:
        """Lists each allocation once; a buffer passed from one entry to the next may begin inside an allocation."""
        every = {place.offset: place for entry in self.entries for place in entry.places.values()}.values()
        return tuple(place for place in every if not any(_begins_in(place, other) for other in every))

    @property
    def slots(self) -> list[int]:
        return [entry.slot for entry in self.entries if entry.step.is_timed]

    @property
    def preparing(self) -> list[int]:
        return [entry.slot for entry in self._preparing]

    @property
    def prepared(self) -> list[Place]:
        """The places of the results of `prepare`; the call may only read them."""
        return [place for entry in self._preparing for place in entry.handed_over]

    @property
    def _preparing(self) -> list[StagedEntry]:
        return [entry for entry in self.entries if not entry.step.is_timed]


def _begins_in(place: Place, other: Place) -> bool:
    return other.offset < place.offset < other.offset + other.size


def stage(task: Task, sealed: Sealed, draw: Draw, given: Scenario, layout: Layout, first_slot: int) -> StagedCall:
    """Finds a place for every buffer of the call."""
    case = draw.case
    entries: list[StagedEntry] = []
    inputs: list[tuple[Place, torch.Tensor]] = []
    for step in entry_calls(task, case, prepared=sealed.preparation(case.name) is not None):
        plan = sealed.plan(case.name, step.entry)
        taken = _taken(step, given, {entry.step.entry: entry.handed_over for entry in entries})
        known = {number: place for number, place in taken.items() if isinstance(place, Place)}
        places = {**known, **_allocated(plan, known, layout)}
        entries.append(StagedEntry(slot=first_slot + len(entries), step=step, plan=plan, places=places))
        inputs += [(places[number], tensor) for number, tensor in taken.items() if isinstance(tensor, torch.Tensor)]
    return StagedCall(draw=draw, entries=tuple(entries), inputs=tuple(inputs))


def refreshed(call: StagedCall, draw: Draw, given: Scenario) -> StagedCall:
    """Returns the same call with another draw's inputs in the same places."""
    nothing: dict[str, list[Place]] = {entry.step.entry: [] for entry in call.entries}
    tensors = [tensor for entry in call.entries for tensor in _taken(entry.step, given, nothing).values()]
    pairs = zip((place for place, _ in call.inputs), tensors, strict=True)
    return replace(call, draw=draw, inputs=tuple((place, tensor) for place, tensor in pairs))


def _taken(step: EntryCall, given: Scenario, handed_over: Mapping[str, Sequence[Place]]) -> dict[int, Any]:
    """The tensor arguments of an entry by number: a tensor of the task, or the place of an earlier result."""
    values = bound(step, given, handed_over)
    flat = [item for value in values for item in ([value] if isinstance(value, Place) else tensors_in(value))]
    return dict(enumerate(flat))


def _allocated(plan: Plan, known: Mapping[int, Place], layout: Layout) -> dict[int, Place]:
    """Allocates arguments and scratch, and memory for variables that no kernel uses."""
    buffers = enumerate(plan.buffers)
    return {number: layout.take(buffer.bytes) for number, buffer in buffers if number not in known}


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
    used |= {place.offset for entry in call.entries if not entry.step.is_timed for place in entry.places.values()}
    clean = [(arena.at(place) == POISON).all() for place in call.places if place.offset not in used]
    return torch.stack([_as_given(arena, call.inputs), *clean]).all()


def _as_given(arena: Arena, inputs: Sequence[tuple[Place, torch.Tensor]]) -> torch.Tensor:
    same = [(as_bits(_window(arena, place, tensor)) == as_bits(held(tensor))).all() for place, tensor in inputs]
    return torch.stack(same).all() if same else torch.ones((), dtype=torch.bool, device=arena.bytes.device)


def read_results(call: StagedCall, arena: Arena) -> Tensors:
    """The tensors that the candidate returned and mutated, as views of the arena, in the order of expected values."""
    found: Tensors = []
    for entry in call.entries:
        found += _returned(entry, arena)
        found += [_window(arena, *call.inputs[number]) for number in entry.step.mutates]
    return found


def read_first(call: StagedCall, arena: Arena) -> Tensors:
    """The results of the forward entry of a training pair."""
    return _returned(call.entries[0], arena)


def _returned(entry: StagedEntry, arena: Arena) -> Tensors:
    return [_result(entry, view, arena) for view in entry.required]


def _result(entry: StagedEntry, view: View, arena: Arena) -> torch.Tensor:
    dtype = getattr(torch, dtype_named(view.dtype).torch)
    return arena.tensor(entry.places[view.buffer], view.offset, view.shape, view.stride, dtype)


def _window(arena: Arena, place: Place, tensor: torch.Tensor) -> torch.Tensor:
    real = held(tensor)
    return arena.tensor(place, 0, tuple(real.shape), real.stride(), real.dtype)
