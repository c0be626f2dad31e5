"""A machine with too little memory for a reference: our fault, never a mistake in the task."""

from __future__ import annotations

from dataclasses import replace

import pytest

from warpwright.core.errors import OurFault, TaskError
from warpwright.core.task import Draw, Reference, Task
from warpwright.oracle.truth.expected import exact_results, scenario
from warpwright.tasks import load

FAILING = "import torch\n\ndef forward(gate, up):\n    {}\n    return gate * up\n"


def failing(line: str) -> Task:
    (task, *_) = load("swiglu")
    return replace(task, reference=Reference(source=FAILING.format(line), filename="large.py"))


@pytest.mark.parametrize("line", ["torch.empty(1 << 60, dtype=torch.uint8)", "raise MemoryError"])
def test_a_reference_too_large_for_this_machine_is_our_fault(line: str) -> None:
    task = failing(line)
    draw = Draw(case=task.cases[0])
    with pytest.raises(OurFault, match=f"case {draw.case.name}: this machine has too little memory"):
        exact_results(task, draw, scenario(task, draw))


def test_any_other_failure_of_a_reference_is_a_task_error() -> None:
    task = failing("raise ValueError('no')")
    draw = Draw(case=task.cases[0])
    with pytest.raises(TaskError, match="raises ValueError"):
        exact_results(task, draw, scenario(task, draw))
