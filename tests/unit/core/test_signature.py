"""The arguments and results of a candidate in each direction: order, shapes, strides and dtypes."""

from __future__ import annotations

from dataclasses import replace
from math import prod

import pytest
from hypothesis import given
from hypothesis import strategies as st

from warpwright.core.calls import arguments, results
from warpwright.core.signature import (
    ListSpec,
    ScalarSpec,
    TensorSpec,
    argument_gradients,
    contiguous,
    flatten,
    output_gradients,
)
from warpwright.core.task import (
    Case,
    Compare,
    Direction,
    Layout,
    Output,
    Reference,
    Role,
    ScalarArg,
    Task,
    TensorArg,
)

CASE = Case(name="c", role=Role.CHECK, dims={"B": 2, "D": 5}, dtype="bf16", scalars={"eps": 1e-5})
TASK = Task(
    name="norm",
    arguments=(
        TensorArg(name="x", shape=("B", "D")),
        TensorArg(name="weight", shape=("D",), dtype="fp32"),
        TensorArg(name="index", shape=("B",), dtype="int64"),
        TensorArg(name="mask", shape=("B", "D"), grad=False),
        ScalarArg(name="eps", values=(1e-5,)),
    ),
    outputs=(Output(name="y", shape=("B", "2*D")), Output(name="best", shape=("B",), compare=Compare.INDEX)),
    saves=(Output(name="rstd", shape=("B",), dtype="fp32"),),
    cases=(CASE,),
    reference=Reference(source=""),
)


def in_direction(direction: Direction) -> Task:
    return replace(TASK, direction=direction)


def names(specs: tuple[TensorSpec | ListSpec | ScalarSpec, ...]) -> list[str]:
    return [spec.name for spec in specs]


def test_forward_takes_what_the_reference_takes() -> None:
    specs = arguments(TASK, CASE)
    assert names(specs) == ["x", "weight", "index", "mask", "eps"]
    assert specs[0] == TensorSpec(name="x", shape=(2, 5), stride=(5, 1), dtype="bf16")
    assert specs[1] == TensorSpec(name="weight", shape=(5,), stride=(1,), dtype="fp32")
    assert specs[4] == ScalarSpec(name="eps", value=1e-5)
    assert results(TASK, CASE)[0] == TensorSpec(name="y", shape=(2, 10), stride=(10, 1), dtype="bf16")


def test_backward_takes_gradients_then_saves_then_arguments() -> None:
    task = in_direction(Direction.BACKWARD)
    assert names(arguments(task, CASE)) == ["grad_y", "rstd", "x", "weight", "index", "mask", "eps"]
    assert names(results(task, CASE)) == ["grad_x", "grad_weight"]


def test_training_forward_is_called_like_forward() -> None:
    task = in_direction(Direction.TRAINING)
    assert arguments(task, CASE) == arguments(TASK, CASE)
    assert results(task, CASE) == results(TASK, CASE)


@pytest.mark.parametrize(
    ("layout", "stride"), [(Layout.CONTIGUOUS, (10, 1)), (Layout.EXPANDED, (0, 0)), (Layout.TRANSPOSED, (1, 2))]
)
def test_gradients_have_the_layout_of_the_case(layout: Layout, stride: tuple[int, int]) -> None:
    (gradient,) = output_gradients(TASK, replace(CASE, layout=layout))
    assert gradient.shape == (2, 10)
    assert gradient.stride == stride


def test_formulas_of_lists_use_the_position() -> None:
    many = TensorArg(name="params", shape=("B + i", 3), count="B")
    task = replace(TASK, arguments=(many,), direction=Direction.BACKWARD)
    spec = arguments(task, CASE)[-1]
    assert isinstance(spec, ListSpec)
    assert [item.shape for item in spec.items] == [(2, 3), (3, 3)]
    assert names(argument_gradients(task, CASE)) == ["grad_params[0]", "grad_params[1]"]
    assert flatten(spec) == spec.items


@given(st.lists(st.integers(0, 9), max_size=5).map(tuple))
def test_contiguous_strides_number_the_elements(shape: tuple[int, ...]) -> None:
    strides = contiguous(shape)
    assert all(stride == prod(max(size, 1) for size in shape[i + 1 :]) for i, stride in enumerate(strides))
    assert TensorSpec(name="t", shape=shape, stride=strides, dtype="fp32").numel == prod(shape)
