"""Python objects as tasks: a function as standalone source, a traced module, examples as descriptions."""

from __future__ import annotations

import pytest
import torch
from torch import relu
from torch.nn import functional

from warpwright.core.errors import UsageError
from warpwright.tasks.given.callables import written
from warpwright.tasks.given.examples import descriptions
from warpwright.tasks.given.modules import traced

SLOPE = 0.5
TABLE = torch.ones(3)


def bent(x):
    return functional.leaky_relu(x, SLOPE)


def gated(x, gate):
    return relu(bent(x)) * gate


def looked_up(x):
    return x + TABLE


class Scaled(torch.nn.Module):
    def __init__(self) -> None:
        super().__init__()
        self.layer = torch.nn.Linear(4, 3)

    def forward(self, x, factor):
        return self.layer(x) * factor, x + 1


def run(source: str, entry: str, *arguments):
    names: dict = {}
    exec(source, names)
    return names[entry](*arguments)


def test_a_function_is_written_with_all_that_it_uses() -> None:
    x, gate = torch.randn(3, 4), torch.randn(3, 4)
    assert torch.equal(run(written(gated), "gated", x, gate), gated(x, gate))


def test_a_function_is_written_with_the_variables_that_it_closes_over() -> None:
    factor = 3

    def scaled(x):
        return x * factor

    x = torch.randn(3)
    assert torch.equal(run(written(scaled), "scaled", x), x * 3)


def test_a_tensor_from_outside_must_become_an_argument() -> None:
    with pytest.raises(UsageError, match="TABLE, a Tensor"):
        written(looked_up)
    with pytest.raises(UsageError, match="def"):
        written(lambda x: x)


def test_a_module_becomes_a_function_of_its_inputs_and_parameters() -> None:
    module, x = Scaled(), torch.randn(2, 4)
    found = traced(module, (x, 2.0))
    held = (module.layer.weight, module.layer.bias)
    assert [words.split("=")[1] for words in found.inputs] == ["2,4:fp32", "3,4:fp32", "3,:fp32"]
    for mine, truth in zip(run(found.source, found.entry, x, *held), module(x, 2.0), strict=True):
        assert torch.equal(mine, truth)


def test_a_module_that_changes_its_buffers_is_refused() -> None:
    module = torch.nn.BatchNorm1d(4)
    with pytest.raises(UsageError, match="eval"):
        traced(module, (torch.randn(8, 4),))
    assert traced(module.eval(), (torch.randn(8, 4),)).entry == "batch_norm1d"


def test_a_module_that_cannot_be_traced_is_refused_in_a_sentence() -> None:
    class Odd(torch.nn.Module):
        def forward(self, x):
            return x + 1 if float(x.sum()) > 0 else x

    with pytest.raises(UsageError, match=r"Odd cannot be traced \("):
        traced(Odd(), (torch.randn(2),))


def test_examples_describe_inputs() -> None:
    indices = torch.tensor([0, 6, 2])
    given = [torch.empty(2, 3, dtype=torch.bfloat16), indices, torch.tensor(1.0), 1e-5, True, None, (2, 2), "4,:fp16"]
    assert descriptions(given) == (
        "2,3:bf16", "3,:int64<7", ":fp32", "1e-05", "true", "none", "[2, 2]", "4,:fp16",
    )  # fmt: skip
    assert descriptions({"x": torch.empty(2), "eps": 0.1}) == ("x=2,:fp32", "eps=0.1")
    with pytest.raises(UsageError, match="not set"):
        descriptions([{1}])
