"""Where the buffers of a call lie, and whose results are whose arguments. No GPU is needed to lay them out."""

from __future__ import annotations

from dataclasses import replace

import pytest
import torch

from warpwright.core.candidate import Flags
from warpwright.core.launch.plan import Buffer, Origin, Plan, View
from warpwright.core.launch.sealed import Manifest, Sealed
from warpwright.core.task import Case, Draw, Output, Reference, Role, ScalarArg, Task, TensorArg
from warpwright.judge.gpu.arena import POISON, Arena, Layout
from warpwright.judge.processes.staged_call import Visit, refreshed, stage, untouched, write_inputs
from warpwright.oracle.truth.expected import Scenario

CASE = Case(name="one", role=Role.CHECK, dims={"N": 256}, scalars={"eps": 0.5})
TASK = Task(
    name="sum",
    arguments=(
        TensorArg(name="a", shape=("N",)),
        TensorArg(name="x", shape=("N",)),
        TensorArg(name="b", shape=("N",)),
        ScalarArg(name="eps", values=(0.5,)),
    ),
    outputs=(Output(name="y", shape=("N",)),),
    prepares=("b", "a", "eps"),
    cases=(CASE,),
    reference=Reference(source=""),
)
BYTES = 1024


def view(buffer: int, offset: int = 0) -> View:
    return View(buffer=buffer, offset=offset, shape=(128,), stride=(1,), dtype="fp32")


def plan(entry: str, arguments: int, returns: tuple[View, ...]) -> Plan:
    given = (Buffer(bytes=BYTES, origin=Origin.ARGUMENT),) * arguments
    return Plan(
        entry=entry,
        case="one",
        buffers=(*given, Buffer(bytes=BYTES, origin=Origin.SCRATCH)),
        arguments=tuple(view(number) for number in range(arguments)),
        nodes=(),
        returns=returns,
    )


def sealed(*plans: Plan) -> Sealed:
    manifest = Manifest(
        candidate="c",
        task=TASK.key,
        gpu="h200",
        arch="sm_90a",
        flags=Flags(),
        compilers={},
        command=(),
        hashes={},
        seconds={},
        isolation="",
        warpwright="",
    )
    return Sealed(id="s", source="", manifest=manifest, entries=(), cubin=None, plans=plans)


def scenario(start: float = 0.0) -> Scenario:
    a, x, b = (torch.full((256,), start + number) for number in range(3))
    return Scenario(arguments=[a, x, b, 0.5], gradients=[], saves=[])


def test_forward_finds_what_was_prepared_where_the_first_of_its_arguments_stood() -> None:
    # prepare(b, a, eps) returns the second half of its scratch, then b as it is; forward takes both before x.
    candidate = sealed(plan("prepare", 2, (view(2, 512), view(0))), plan("forward", 3, (view(3),)))
    visit = stage(TASK, candidate, Draw(case=CASE), scenario(), Layout(), 4)
    prepare, forward = visit.acts
    assert (visit.preparing, visit.slots) == ([4], [5])
    assert forward.places[0].offset == prepare.places[2].offset + 512
    assert forward.places[1] == prepare.places[0]
    assert visit.prepared == [forward.places[0], forward.places[1]]
    assert [place for place, _ in visit.inputs] == [prepare.places[1], forward.places[2], prepare.places[0]]
    assert [int(tensor[0]) for _, tensor in visit.inputs] == [0, 1, 2]


def test_memory_handed_on_in_part_is_still_one_piece() -> None:
    candidate = sealed(plan("prepare", 2, (view(2, 512),)), plan("forward", 2, (view(2),)))
    visit = stage(TASK, candidate, Draw(case=CASE), scenario(), Layout(), 0)
    assert visit.acts[1].places[0] not in visit.places
    assert len(visit.places) == 5
    assert all(place.size == BYTES for place in visit.places)


def test_new_contents_go_to_the_same_places() -> None:
    candidate = sealed(plan("prepare", 2, (view(2),)), plan("forward", 2, (view(2),)))
    visit = stage(TASK, candidate, Draw(case=CASE), scenario(), Layout(), 0)
    again = refreshed(TASK, visit, Draw(case=CASE, seed=1), scenario(10.0))
    assert [place for place, _ in again.inputs] == [place for place, _ in visit.inputs]
    assert [int(tensor[0]) for _, tensor in again.inputs] == [10, 11, 12]


def test_without_prepare_there_is_one_act() -> None:
    visit = stage(TASK, sealed(plan("forward", 3, (view(3),))), Draw(case=CASE), scenario(), Layout(), 0)
    assert (visit.preparing, visit.slots, visit.prepared) == ([], [0], [])


def test_a_variable_that_no_kernel_uses_has_room_for_what_is_uploaded_to_it() -> None:
    one = plan("forward", 3, (view(3),))
    symbol = Buffer(bytes=4096, origin=Origin.SYMBOL, symbol="table")
    candidate = sealed(replace(one, buffers=(*one.buffers, symbol)))
    visit = stage(TASK, candidate, Draw(case=CASE), scenario(), Layout(), 0)
    assert visit.acts[0].places[4].size == 4096


def arena_of(visit: Visit) -> Arena:
    """Memory of this process in place of the GPU's."""
    arena = Arena.__new__(Arena)
    arena.bytes = torch.full((max(place.offset + place.size for place in visit.places),), POISON, dtype=torch.uint8)
    return arena


@pytest.mark.parametrize("number", range(4))
def test_whoever_writes_to_a_call_that_was_not_made_is_seen(number: int) -> None:
    visit = stage(TASK, sealed(plan("forward", 3, (view(3),))), Draw(case=CASE), scenario(), Layout(), 0)
    arena = arena_of(visit)
    write_inputs(visit, arena)
    assert bool(untouched(visit, arena))
    place = visit.places[number]
    arena.bytes[place.offset + place.size - 1] ^= 1
    assert not bool(untouched(visit, arena))


def test_what_was_prepared_for_a_call_does_not_count_as_touched() -> None:
    candidate = sealed(plan("prepare", 2, (view(2),)), plan("forward", 2, (view(2),)))
    visit = stage(TASK, candidate, Draw(case=CASE), scenario(), Layout(), 0)
    arena = arena_of(visit)
    write_inputs(visit, arena)
    arena.at(visit.prepared[0]).fill_(1)
    assert bool(untouched(visit, arena))
    arena.at(visit.acts[1].places[2]).fill_(1)
    assert not bool(untouched(visit, arena))
