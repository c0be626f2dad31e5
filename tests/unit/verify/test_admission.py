"""Admission: a robust task is admitted; a task that accepts a cheat, or refutes honest work, is not."""

from dataclasses import replace

import pytest

from warpwright.core.task import Case, Direction, Exemption, Output, Reference, Role, ScalarArg, Task, TensorArg
from warpwright.verify.admission import admit

SOURCE = """
import torch

def forward(x, bias, scale):
    return torch.tanh(x * scale + bias)
"""
DIMS = ({"R": 3, "D": 7}, {"R": 5, "D": 33}, {"R": 1, "D": 64})


def task(source=SOURCE, **changes):
    cases = tuple(
        Case(name=f"c{i}", role=Role.CHECK, dims=dims, dtype="fp32", scalars={"scale": 0.5 + i})
        for i, dims in enumerate(DIMS)
    )
    made = Task(
        name="sample",
        arguments=(
            TensorArg(name="x", shape=("R", "D")),
            TensorArg(name="bias", shape=("D",), init="bias"),
            ScalarArg(name="scale", values=(0.5, 1.5, 2.5)),
        ),
        outputs=(Output(name="y", shape=("R", "D")),),
        cases=cases,
        distributions=("normal", "tiny"),
        reference=Reference(source=source),
    )
    return replace(made, **changes)


def unsettled(admission):
    return {control.name for control in admission.controls if not control.settled}


@pytest.mark.parametrize("direction", list(Direction))
def test_a_robust_task_is_admitted_with_every_control_refuted(direction):
    admission = admit(task(direction=direction))
    assert admission.admitted, (unsettled(admission), admission)
    assert sum(control.refuted is True for control in admission.controls) >= 12
    assert {item.name for item in admission.honest} >= {"eager", "double accumulation", "other order", "other rounding"}


def test_a_parameter_without_effect_prevents_admission():
    admission = admit(task("import torch\ndef forward(x, bias, scale):\n    return torch.tanh(x * scale) + 0 * bias\n"))
    assert not admission.admitted
    assert {"bias as zeros", "bias as ones"} <= unsettled(admission)


def test_an_operation_without_effect_prevents_admission():
    source = SOURCE.replace("x * scale + bias", "(x * scale + bias).clamp(-1000, 1000)")
    assert unsettled(admit(task(source))) == {"drop clamp#0"}


def test_an_exemption_settles_a_control_and_keeps_its_reason():
    source = SOURCE.replace("x * scale + bias", "(x * scale + bias).clamp(-1000, 1000)")
    exempted = task(source, exemptions=(Exemption(control="drop clamp#0", reason="a guard that never bites"),))
    admission = admit(exempted)
    assert admission.admitted
    assert [c.exempt for c in admission.controls if c.exempt] == ["a guard that never bites"]


def test_an_output_that_is_always_zero_is_not_admitted():
    admission = admit(task("def forward(x, bias, scale):\n    return (x * scale + bias) * 0\n"))
    assert not admission.admitted
    assert "zeros (y)" in unsettled(admission)
    assert "stale output" in unsettled(admission)


def test_a_reference_that_is_not_deterministic_is_reported():
    source = "import torch\ndef forward(x, bias, scale):\n    return x * scale + bias + torch.rand_like(x)\n"
    admission = admit(task(source))
    assert not admission.admitted
    assert any("not deterministic" in problem for problem in admission.problems)


def test_an_honest_variant_that_computes_something_else_fails():
    source = SOURCE + "\ndef loose(x, bias, scale):\n    return torch.tanh(x * scale + bias * 1.001)\n"
    admission = admit(task(source, variants=("loose",)))
    assert not admission.admitted
    assert [item.name for item in admission.honest if not item.passed] == ["loose"]


def test_a_reference_that_raises_is_a_problem_of_the_task():
    admission = admit(task("def forward(x, bias, scale):\n    return x @ bias @ x\n"))
    assert not admission.admitted
    assert admission.problems
