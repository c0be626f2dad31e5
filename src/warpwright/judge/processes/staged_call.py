"""One call of a candidate as the judge stages it: where everything lies, what goes in, what is read back."""

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
class Act:
    """One entry of the candidate in one visit: its plan and the place of each of its buffers."""

    slot: int
    plan: Plan
    places: dict[int, Place]


@dataclass(frozen=True, slots=True, kw_only=True)
class Visit:
    """A draw, staged. A training pair is two acts: the second takes what the first saved.

    Where the candidate prepares, that act comes before the call and is no part of it.
    """

    draw: Draw
    acts: tuple[Act, ...]
    inputs: tuple[tuple[Place, torch.Tensor], ...]
    """The judge's own copies, to be written before the call and compared after it."""
    mutable: frozenset[int]
    """Which of those a task lets the candidate change."""

    @property
    def places(self) -> tuple[Place, ...]:
        """Each piece of memory once: what one act hands on to the next may begin within a piece."""
        every = {place.offset: place for act in self.acts for place in act.places.values()}.values()
        return tuple(place for place in every if not any(_begins_in(place, other) for other in every))

    @property
    def slots(self) -> list[int]:
        return [act.slot for act in self.acts if act.plan.entry != PREPARE]

    @property
    def preparing(self) -> list[int]:
        return [act.slot for act in self.acts if act.plan.entry == PREPARE]

    @property
    def prepared(self) -> list[Place]:
        """Where what was prepared lies; the call may read it and no more."""
        return [place for act in self.acts if act.plan.entry == PREPARE for place in _returned_places(act, 0)]


def _begins_in(place: Place, other: Place) -> bool:
    return other.offset < place.offset < other.offset + other.size


def stage(task: Task, sealed: Sealed, draw: Draw, given: Scenario, layout: Layout, first_slot: int) -> Visit:
    """Finds a place for every buffer of the call."""
    case = draw.case.name
    entry = "backward" if task.direction is Direction.BACKWARD else "forward"
    if preparation := sealed.preparation(case):
        return _stage_prepared(task, sealed, draw, given, _act(first_slot, preparation, {}, layout), layout)
    acts = [_act(first_slot, sealed.plan(case, entry), {}, layout)]
    inputs = [(acts[0].places[number], tensor) for number, tensor in enumerate(_first_arguments(task, draw, given))]
    mutable = _mutable(task, given)
    if task.direction is Direction.TRAINING:
        plan = sealed.plan(case, "backward")
        saved = _handed_on(task, acts[0], len(given.gradients))
        acts.append(_act(first_slot + 1, plan, saved, layout))
        inputs += [(acts[1].places[number], tensor) for number, tensor in enumerate(given.gradients)]
    return Visit(draw=draw, acts=tuple(acts), inputs=tuple(inputs), mutable=mutable)


def _stage_prepared(task: Task, sealed: Sealed, draw: Draw, given: Scenario, preparation: Act, layout: Layout) -> Visit:
    """Two acts: `forward` finds what `prepare` returned where the arguments stood that it was made of."""
    allocate: list[list[Place | None]] = [[None] * len(tensors_in(value)) for value in given.arguments]
    made: list[list[Place | None]] = [[place] for place in _returned_places(preparation, 0)]
    groups = with_prepared(task, allocate, made)
    taken = list(enumerate(place for group in groups for place in group))
    known = {number: place for number, place in taken if place is not None}
    call = _act(preparation.slot + 1, sealed.plan(draw.case.name, "forward"), known, layout)
    others = [call.places[number] for number, place in taken if place is None]
    inputs = _inputs_of(task, given, preparation, others)
    return Visit(draw=draw, acts=(preparation, call), inputs=inputs, mutable=frozenset())


def _inputs_of(
    task: Task, given: Scenario, preparation: Act, others: Sequence[Place]
) -> tuple[tuple[Place, torch.Tensor], ...]:
    """The tensors of the task in its own order, each with its place in the act that takes it."""
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


def refreshed(task: Task, visit: Visit, draw: Draw, given: Scenario) -> Visit:
    """The same places with other contents."""
    tensors = _first_arguments(task, draw, given)
    if task.direction is Direction.TRAINING:
        tensors += given.gradients
    places = (place for place, _ in visit.inputs)
    return replace(visit, draw=draw, inputs=tuple(zip(places, tensors, strict=True)))


def _first_arguments(task: Task, draw: Draw, given: Scenario) -> Tensors:
    """The tensors of the first act, in the order in which its entry takes them."""
    if task.direction is not Direction.BACKWARD:
        return tensors_in(given.arguments)
    return tensors_in(arranged(task, draw.case, given.gradients, given.saves, given.arguments))


def counterexample(visit: Visit, kind: str, message: str, facts: Mapping[str, Any] | None = None) -> Counterexample:
    """What went wrong in this visit, with what it takes to see it again."""
    draw = visit.draw
    where = {"distribution": draw.distribution, "dims": dict(draw.case.dims), "dtype": draw.case.dtype}
    return Counterexample(kind=kind, message=message, case=draw.case.name, facts={**where, **(facts or {})})


def write_inputs(visit: Visit, arena: Arena) -> None:
    """Puts the inputs where the candidate will look, in the layout it was promised."""
    for place, tensor in visit.inputs:
        _window(arena, place, tensor).copy_(held(tensor))


def changed_inputs(visit: Visit, arena: Arena) -> list[int]:
    """Positions of the inputs that no longer hold what was put there."""
    return [
        number
        for number, (place, tensor) in enumerate(visit.inputs)
        if number not in visit.mutable and not same_bits(_window(arena, place, tensor), held(tensor))
    ]


def unchanged(visit: Visit, arena: Arena) -> torch.Tensor:
    """The same as one truth value on the GPU, for many calls at a time."""
    return _as_given(arena, [pair for number, pair in enumerate(visit.inputs) if number not in visit.mutable])


def untouched(visit: Visit, arena: Arena) -> torch.Tensor:
    """Of a call that was not made: nothing was written to any memory of it. One truth value on the GPU."""
    used = {place.offset for place, _ in visit.inputs}
    used |= {place.offset for act in visit.acts if act.plan.entry == PREPARE for place in act.places.values()}
    clean = [(arena.at(place) == POISON).all() for place in visit.places if place.offset not in used]
    return torch.stack([_as_given(arena, visit.inputs), *clean]).all()


def _as_given(arena: Arena, inputs: Sequence[tuple[Place, torch.Tensor]]) -> torch.Tensor:
    same = [(as_bits(_window(arena, place, tensor)) == as_bits(held(tensor))).all() for place, tensor in inputs]
    return torch.stack(same).all() if same else torch.ones((), dtype=torch.bool, device=arena.bytes.device)


def read_results(task: Task, visit: Visit, arena: Arena) -> Tensors:
    """What the candidate returned and mutated, as windows on the arena, in the order that is owed."""
    returned = [_returned(act, view, arena) for act in visit.acts for view in _owed_returns(task, act)]
    mutated = [_window(arena, *visit.inputs[number]) for number in sorted(visit.mutable)]
    if task.direction is Direction.TRAINING:
        outputs = len(task.outputs)
        return [*returned[:outputs], *mutated, *returned[outputs:]]
    return [*returned, *mutated]


def read_first(task: Task, visit: Visit, arena: Arena) -> Tensors:
    """What the first act of a training pair owes."""
    act = visit.acts[0]
    return [_returned(act, view, arena) for view in _owed_returns(task, act)]


def _owed_returns(task: Task, act: Act) -> tuple[View, ...]:
    """Without what a training forward saved for itself, and without what was only prepared."""
    if act.plan.entry == PREPARE:
        return ()
    views = tuple(view for view in act.plan.returns if isinstance(view, View))
    saving = task.direction is Direction.TRAINING and act.plan.entry == "forward"
    return views[: len(task.outputs)] if saving else views


def _act(slot: int, plan: Plan, known: dict[int, Place], layout: Layout) -> Act:
    """Arguments and scratch; and variables, which have no place of their own where no kernel uses them."""
    places = dict(known)
    for number, buffer in enumerate(plan.buffers):
        if number not in places:
            places[number] = layout.take(buffer.bytes)
    return Act(slot=slot, plan=plan, places=places)


def _handed_on(task: Task, forward: Act, gradients: int) -> dict[int, Place]:
    saved = _returned_places(forward, len(task.outputs))
    return {gradients + number: place for number, place in enumerate(saved)}


def _returned_places(act: Act, first: int) -> list[Place]:
    """Where the results of an act lie, from the given one on."""
    places = []
    for view in act.plan.returns[first:]:
        assert isinstance(view, View)
        place = act.places[view.buffer]
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


def _returned(act: Act, view: View, arena: Arena) -> torch.Tensor:
    dtype = getattr(torch, dtype_named(view.dtype).torch)
    return arena.tensor(act.places[view.buffer], view.offset, view.shape, view.stride, dtype)


def _window(arena: Arena, place: Place, tensor: torch.Tensor) -> torch.Tensor:
    real = held(tensor)
    return arena.tensor(place, 0, tuple(real.shape), real.stride(), real.dtype)
