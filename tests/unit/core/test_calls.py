"""The calling convention: which entries are called, in which order, and the source of each argument."""

from __future__ import annotations

from dataclasses import dataclass, replace

import pytest

from warpwright.core.calls import (
    PREPARE,
    argument_specs,
    bound,
    entries,
    entry_calls,
)
from warpwright.core.signature import TensorSpec
from warpwright.core.task import Case, Direction, Output, Reference, Role, ScalarArg, Task, TensorArg

CASE = Case(name="c", role=Role.CHECK, dims={"B": 2, "D": 5}, scalars={"eps": 0.5})
TASK = Task(
    name="norm",
    arguments=(
        TensorArg(name="x", shape=("B", "D")),
        TensorArg(name="gain", shape=("D",)),
        ScalarArg(name="eps", values=(0.5,)),
        TensorArg(name="moments", shape=("D",), count="B"),
    ),
    outputs=(Output(name="y", shape=("B", "D")), Output(name="mean", shape=("B",))),
    saves=(Output(name="gain", shape=("B",)),),
    cases=(CASE,),
    reference=Reference(source=""),
)


@dataclass(frozen=True)
class Letters:
    """Values of a task as letters; a saved tensor has the same name as an argument."""

    arguments: tuple[str, ...] = ("x", "g", "e", "m")
    gradients: tuple[str, ...] = ("dy", "dm")
    saves: tuple[str, ...] = ("s",)


def test_forward_takes_the_arguments_and_returns_the_outputs() -> None:
    (call,) = entry_calls(TASK, CASE)
    assert bound(call, Letters()) == ["x", "g", "e", "m"]
    assert [spec.name for spec in call.results] == ["y", "mean"]
    assert call.required("abc") == "abc"
    assert call.handed_over("abc") == ()


def test_backward_takes_gradients_then_saves_then_arguments_even_of_the_same_name() -> None:
    (call,) = entry_calls(replace(TASK, direction=Direction.BACKWARD), CASE)
    assert bound(call, Letters()) == ["dy", "dm", "s", "x", "g", "e", "m"]


def test_a_task_may_define_the_order_of_backward() -> None:
    task = replace(TASK, direction=Direction.BACKWARD, backward_takes=("x", ("grad_y", "grad_mean"), "eps"))
    (call,) = entry_calls(task, CASE)
    assert bound(call, Letters()) == ["x", ["dy", "dm"], "e"]
    grouped = argument_specs(task, CASE, call)[1]
    assert grouped.name == "grad_y_grad_mean_list"
    assert [item.shape for item in grouped.items] == [(2, 5), (2,)]  # type: ignore[union-attr]


def test_backward_of_a_pair_takes_gradients_and_the_surplus_results_of_forward() -> None:
    task = replace(TASK, direction=Direction.TRAINING)
    forward, backward = entry_calls(task, CASE)
    returned = ["y", "mean", "rstd", "mask"]
    assert (forward.required(returned), forward.handed_over(returned)) == (["y", "mean"], ["rstd", "mask"])
    assert bound(backward, Letters(), {forward.entry: ["rstd", "mask"]}) == ["dy", "dm", "rstd", "mask"]
    saved = TensorSpec(name="saved_0", shape=(3,), stride=(1,), dtype="fp32")
    assert argument_specs(task, CASE, backward, {forward.entry: [saved]})[-1] == saved
    assert [spec.name for spec in backward.results] == ["grad_x", "grad_gain", "grad_moments[0]", "grad_moments[1]"]


@pytest.mark.parametrize(
    ("prepares", "first", "second"),
    [(("eps", "gain"), ["e", "g"], ["x", "a", "b", "m"]), (("moments", "x"), ["m", "x"], ["a", "b", "g", "e"])],
)
def test_prepared_tensors_replace_the_first_argument_they_were_made_from(
    prepares: tuple[str, ...], first: list[str], second: list[str]
) -> None:
    prepare, forward = entry_calls(replace(TASK, prepares=prepares), CASE, prepared=True)
    assert bound(prepare, Letters()) == first
    assert bound(forward, Letters(), {PREPARE: ["a", "b"]}) == second
    assert (prepare.is_timed, forward.is_timed) == (False, True)
    assert (prepare.required("ab"), prepare.handed_over("ab")) == ("", "ab")


@pytest.mark.parametrize("direction", [Direction.BACKWARD, Direction.TRAINING])
def test_prepare_is_used_for_forward_tasks_only(direction: Direction) -> None:
    task = replace(TASK, direction=direction, prepares=("gain",))
    assert entry_calls(task, CASE, prepared=True) == entry_calls(task, CASE)
    assert entry_calls(replace(TASK, prepares=()), CASE, prepared=True) == entry_calls(TASK, CASE)


def test_mutated_tensors_are_compared_in_the_order_the_task_names_them() -> None:
    (call,) = entry_calls(replace(TASK, mutates=("moments", "x")), CASE)
    assert call.mutates == (2, 3, 0)
    (backward,) = entry_calls(replace(TASK, mutates=("x",), direction=Direction.BACKWARD), CASE)
    assert backward.mutates == ()


@pytest.mark.parametrize(
    ("direction", "names"),
    [
        (Direction.FORWARD, ("forward",)),
        (Direction.BACKWARD, ("backward",)),
        (Direction.TRAINING, ("forward", "backward")),
    ],
)
def test_a_candidate_exports_the_entries_of_its_direction(direction: Direction, names: tuple[str, ...]) -> None:
    assert entries(replace(TASK, direction=direction, prepares=("gain",))) == names
