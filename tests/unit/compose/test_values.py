"""Values: made once, and with attributes of the type that their operation has."""

from __future__ import annotations

import pytest

from warpwright.compose.ir.operations import Axis, Op, Permuted, Reduced
from warpwright.compose.ir.sizes import Cases
from warpwright.compose.ir.values import Graph, Value
from warpwright.core.gpus.table import gpu_named


@pytest.fixture
def graph() -> Graph:
    return Graph(Cases([{"n": 3, "m": 5}]), gpu_named("h200"))


def tensor(graph: Graph) -> Value:
    return graph.make(Op.POSITION, (), (graph.cases.size("n"), graph.cases.size("m")), Axis(0))


def test_the_same_operation_on_the_same_values_is_one_value(graph: Graph) -> None:
    x = tensor(graph)
    once, again = (graph.make(Op.SUM, [x], x.shape[:1], Reduced(1)) for _ in range(2))
    assert once is again


def test_values_with_other_attributes_are_others(graph: Graph) -> None:
    x = tensor(graph)
    assert graph.make(Op.SUM, [x], (), Reduced(1)) is not graph.make(Op.SUM, [x], (), Reduced(2))


def test_two_permutations_are_one_or_none(graph: Graph) -> None:
    x = tensor(graph)
    turned = graph.permute(x, [1, 0])
    assert turned.attr(Permuted).order == (1, 0)
    assert graph.permute(turned, [1, 0]) is x


def test_attributes_of_another_operation_are_an_error(graph: Graph) -> None:
    with pytest.raises(TypeError, match="position has the attributes"):
        tensor(graph).attr(Reduced)


def test_adding_zero_and_multiplying_by_one_change_nothing(graph: Graph) -> None:
    x = tensor(graph)
    assert graph.pointwise(Op.ADD, x, graph.constant(0)) is x
    assert graph.pointwise(Op.MUL, graph.constant(1.0), x) is x
    assert graph.pointwise(Op.SUB, graph.constant(0), x) is not x
