"""Buffers of a plan: which library results become the buffer, and which are copied to it."""

from dataclasses import replace

import pytest
import torch

from warpwright.core.launch.plan import Buffer, Library, Origin, View
from warpwright.judge.gpu import torch_operations
from warpwright.judge.gpu.memory import Memory
from warpwright.judge.gpu.peak_memory import planned_peak_bytes
from warpwright.judge.gpu.replay import Replayed

ARGUMENT, SCRATCH, RETURNED = 0, 1, 2
BUFFERS = [Buffer(bytes=64, origin=origin) for origin in (Origin.ARGUMENT, Origin.SCRATCH, Origin.SCRATCH)]


def whole(buffer: int) -> View:
    return View(buffer=buffer, offset=0, dtype="fp32", shape=(4, 4), stride=(4, 1))


@pytest.fixture
def places():
    return {number: torch.full((64,), 0xA5, dtype=torch.uint8) for number in range(3)}


def memory_of(places, defer=False):
    returned = frozenset({RETURNED})
    return Memory(BUFFERS, [places[0]], lambda name: None, lambda number, size: places[number], returned, defer)


def relu(target: View) -> Library:
    """An operation whose `out` overload torch generates: it computes and copies."""
    return Library(operation="relu", inputs=(whole(ARGUMENT),), outputs=(target,), options={})


def returned(places):
    return places[RETURNED].view(torch.float32).reshape(4, 4)


@pytest.fixture
def values(places):
    given = torch.arange(-8, 8, dtype=torch.float32).reshape(4, 4)
    places[ARGUMENT].copy_(given.reshape(-1).view(torch.uint8))
    return given


def test_a_returned_result_is_written_to_its_place_at_once(places, values):
    torch_operations.execute(relu(whole(RETURNED)), memory_of(places))
    assert torch.equal(returned(places), values.relu())


def test_a_deferred_result_reaches_its_place_when_delivered(places, values):
    memory = memory_of(places, defer=True)
    torch_operations.execute(relu(whole(RETURNED)), memory)
    assert torch.all(places[RETURNED] == 0xA5)
    assert torch.equal(memory.tensor(whole(RETURNED)), values.relu())
    memory.deliver()
    assert torch.equal(returned(places), values.relu())


def test_memory_counts_the_buffers_it_allocated_while_they_are_held(places):
    buffers = [*BUFFERS[:1], Buffer(bytes=64, origin=Origin.SCRATCH, last_use=0), *BUFFERS[2:]]
    memory = Memory(buffers, [places[0]], lambda name: None, lambda number, size: places[number])
    for number in (ARGUMENT, SCRATCH, SCRATCH, RETURNED):
        memory.address(number)
    memory.release(0)
    assert (memory.live_bytes, memory.peak_bytes) == (64, 128)


def test_the_peak_of_an_entry_includes_results_of_earlier_entries():
    first = Replayed(returns=(), deliver=lambda: None, live_bytes=10, peak_bytes=100)
    assert planned_peak_bytes([first, replace(first, peak_bytes=95)]) == 105
    assert planned_peak_bytes([]) == 0


def test_a_buffer_that_a_kernel_wrote_before_keeps_its_place(places, values):
    memory = memory_of(places, defer=True)
    memory.address(RETURNED)
    torch_operations.execute(relu(whole(RETURNED)), memory)
    assert torch.equal(returned(places), values.relu())


def test_a_result_in_another_layout_is_copied(places, values):
    transposed = View(buffer=RETURNED, offset=0, dtype="fp32", shape=(4, 4), stride=(1, 4))
    torch_operations.execute(relu(transposed), memory_of(places, defer=True))
    assert torch.equal(returned(places).T, values.relu())


def test_an_operation_that_writes_natively_is_given_the_place(places, values):
    node = Library(operation="mm", inputs=(whole(ARGUMENT),) * 2, outputs=(whole(RETURNED),), options={})
    torch_operations.execute(node, memory_of(places, defer=True))
    assert torch.equal(returned(places), values @ values)
