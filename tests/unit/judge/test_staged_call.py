"""Places of a call's buffers, and results of one entry that are arguments of the next. No GPU is needed for the
layout.
"""

from __future__ import annotations

from dataclasses import replace

import pytest
import torch

from warpwright.core.candidate import Flags
from warpwright.core.launch.plan import Buffer, Origin, Plan, View
from warpwright.core.launch.sealed import Manifest, Sealed
from warpwright.core.task import Case, Draw, Output, Reference, Role, ScalarArg, Task, TensorArg
from warpwright.judge.gpu.arena import POISON, Arena, Layout
from warpwright.judge.processes.staged_call import StagedCall, refreshed, stage, untouched, write_inputs
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


def test_forward_takes_prepared_tensors_in_place_of_the_first_argument_they_were_made_from() -> None:
    # prepare(b, a, eps) returns the second half of its scratch, then b as it is; forward takes both before x.
    candidate = sealed(plan("prepare", 2, (view(2, 512), view(0))), plan("forward", 3, (view(3),)))
    call = stage(TASK, candidate, Draw(case=CASE), scenario(), Layout(), 4)
    prepare, forward = call.entries
    assert (call.preparing, call.slots) == ([4], [5])
    assert forward.places[0].offset == prepare.places[2].offset + 512
    assert forward.places[1] == prepare.places[0]
    assert call.prepared == [forward.places[0], forward.places[1]]
    assert [place for place, _ in call.inputs] == [prepare.places[0], prepare.places[1], forward.places[2]]
    assert [int(tensor[0]) for _, tensor in call.inputs] == [2, 0, 1]


def test_an_allocation_passed_on_in_part_is_listed_once() -> None:
    candidate = sealed(plan("prepare", 2, (view(2, 512),)), plan("forward", 2, (view(2),)))
    call = stage(TASK, candidate, Draw(case=CASE), scenario(), Layout(), 0)
    assert call.entries[1].places[0] not in call.places
    assert len(call.places) == 5
    assert all(place.size == BYTES for place in call.places)


def test_new_inputs_go_to_the_same_places() -> None:
    candidate = sealed(plan("prepare", 2, (view(2),)), plan("forward", 2, (view(2),)))
    call = stage(TASK, candidate, Draw(case=CASE), scenario(), Layout(), 0)
    again = refreshed(call, Draw(case=CASE, seed=1), scenario(10.0))
    assert [place for place, _ in again.inputs] == [place for place, _ in call.inputs]
    assert [int(tensor[0]) for _, tensor in again.inputs] == [12, 10, 11]


def test_without_prepare_there_is_one_entry() -> None:
    call = stage(TASK, sealed(plan("forward", 3, (view(3),))), Draw(case=CASE), scenario(), Layout(), 0)
    assert (call.preparing, call.slots, call.prepared) == ([], [0], [])


def test_a_variable_that_no_kernel_uses_has_memory_for_uploads() -> None:
    one = plan("forward", 3, (view(3),))
    symbol = Buffer(bytes=4096, origin=Origin.SYMBOL, symbol="table")
    candidate = sealed(replace(one, buffers=(*one.buffers, symbol)))
    call = stage(TASK, candidate, Draw(case=CASE), scenario(), Layout(), 0)
    assert call.entries[0].places[4].size == 4096


def arena_of(call: StagedCall) -> Arena:
    """An arena in CPU memory."""
    return Arena(torch.full((max(place.offset + place.size for place in call.places),), POISON, dtype=torch.uint8))


@pytest.mark.parametrize("number", range(4))
def test_a_write_to_the_memory_of_a_call_that_did_not_run_is_detected(number: int) -> None:
    call = stage(TASK, sealed(plan("forward", 3, (view(3),))), Draw(case=CASE), scenario(), Layout(), 0)
    arena = arena_of(call)
    write_inputs(call, arena)
    assert bool(untouched(call, arena))
    place = call.places[number]
    arena.bytes[place.offset + place.size - 1] ^= 1
    assert not bool(untouched(call, arena))


def test_results_of_prepare_do_not_count_as_touched() -> None:
    candidate = sealed(plan("prepare", 2, (view(2),)), plan("forward", 2, (view(2),)))
    call = stage(TASK, candidate, Draw(case=CASE), scenario(), Layout(), 0)
    arena = arena_of(call)
    write_inputs(call, arena)
    arena.at(call.prepared[0]).fill_(1)
    assert bool(untouched(call, arena))
    arena.at(call.entries[1].places[2]).fill_(1)
    assert not bool(untouched(call, arena))
