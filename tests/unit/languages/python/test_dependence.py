"""The record of a call: what its results depend on, and what of earlier calls it may use."""

from __future__ import annotations

import pytest
import torch

from warpwright.core.launch.plan import Library
from warpwright.languages.python.inside.dependence import record_of
from warpwright.languages.python.inside.outcomes import Refusal
from warpwright.languages.python.inside.recorder import Recorder
from warpwright.languages.python.record import Allocate, ExtensionCall, Record


class Calls:
    """A recorder with one weight, and inputs of four numbers."""

    def __init__(self) -> None:
        self.recorder = Recorder(space=0, arguments=2)
        self.weight = new()
        self.recorder.held(self.weight, 1, private=False)
        self.count = -1

    def begin(self) -> torch.Tensor:
        self.count += 1
        self.recorder.begin(self.count)
        given = new()
        self.recorder.given(given, 0)
        return given

    def operation(self, name: str, *operands: torch.Tensor, into: torch.Tensor | None = None) -> torch.Tensor:
        result = new() if into is None else into
        self.recorder.operation(name, [self.recorder.view(item) for item in operands], [self.recorder.view(result)])
        return result

    def record(self, result: torch.Tensor) -> Record:
        return record_of(self.recorder, [self.recorder.view(result)])


def new() -> torch.Tensor:
    return torch.empty(4, device="meta")


def names(record: Record) -> list[str]:
    return [step.operation for step in record.steps if isinstance(step, Library)]


def test_what_no_result_depends_on_is_left_out() -> None:
    calls = Calls()
    given = calls.begin()
    result = calls.operation("relu", given)
    calls.operation("sin", given)
    assert names(calls.record(result)) == ["relu"]


def test_memory_is_numbered_after_the_arguments_in_the_order_of_its_use() -> None:
    calls = Calls()
    given = calls.begin()
    result = calls.operation("add.Tensor", calls.operation("relu", given), calls.weight)
    record = calls.record(result)
    assert [step.buffer for step in record.steps if isinstance(step, Allocate)] == [2, 3]
    assert record.returns[0].buffer == 3  # type: ignore[union-attr]


def test_a_weight_that_an_earlier_call_transformed_is_transformed_in_every_record() -> None:
    calls = Calls()
    given = calls.begin()
    turned = calls.operation("sin", calls.weight)
    first = calls.record(calls.operation("add.Tensor", given, turned))
    second_input = calls.begin()
    second = calls.record(calls.operation("add.Tensor", second_input, turned))
    assert first == second
    assert names(second) == ["sin", "add.Tensor"]


def test_a_result_of_an_earlier_call_is_refused() -> None:
    calls = Calls()
    first = calls.operation("relu", calls.begin())
    calls.record(first)
    calls.begin()
    with pytest.raises(Refusal, match="what an earlier call computed"):
        calls.record(first)


def test_reading_a_result_of_an_earlier_call_is_refused() -> None:
    calls = Calls()
    first = calls.operation("relu", calls.begin())
    given = calls.begin()
    with pytest.raises(Refusal, match="reads what an earlier call computed"):
        calls.record(calls.operation("add.Tensor", given, first))


def test_memory_of_an_earlier_call_may_be_written_again() -> None:
    calls = Calls()
    kept = calls.operation("relu", calls.begin())
    first = calls.record(kept)
    calls.operation("relu", calls.begin(), into=kept)
    # The inputs differ, the records do not.
    assert calls.record(kept) == first


def test_a_buffer_of_the_module_is_copied_before_a_call_changes_it() -> None:
    calls = Calls()
    calls.recorder.held(calls.weight, 1, private=True)
    given = calls.begin()
    calls.operation("add.Tensor", calls.weight, given, into=calls.weight)
    record = calls.record(calls.operation("relu", calls.weight))
    assert names(record) == ["copy_", "add.Tensor", "relu"]
    written = [step.outputs[0].buffer for step in record.steps if isinstance(step, Library)]
    assert 1 not in written


def test_a_kernel_of_the_call_stays_even_if_no_result_depends_on_it() -> None:
    calls = Calls()
    given = calls.begin()
    call = ExtensionCall(extension=0, function="f", arguments=(calls.recorder.view(given),))
    calls.recorder.add(call)
    record = calls.record(calls.operation("relu", given))
    assert isinstance(record.steps[0], ExtensionCall)
