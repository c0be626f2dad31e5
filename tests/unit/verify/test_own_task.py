"""Task rung: a function that cannot tell right from wrong judges no candidate."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import pytest

from warpwright.core.candidate import Candidate
from warpwright.core.climb import Climb
from warpwright.core.errors import TaskError, Undecided
from warpwright.core.records.evidence import Verdict
from warpwright.core.task import Case, Output, Reference, Role, Task, TensorArg
from warpwright.seal.cache import Store
from warpwright.verify.ladder import climb_on, rungs
from warpwright.verify.own_task import TaskRung, usable
from warpwright.verify.source import SourceRung

TASK = Task(
    name="own",
    arguments=(TensorArg(name="x", shape=("R", "C")),),
    outputs=(Output(name="y", shape=("R", "C")),),
    cases=(Case(name="one", role=Role.CHECK, dims={"R": 6, "C": 33}),),
    distributions=("normal", "negative", "huge"),
    reference=Reference(source=""),
)


def tried(body: str, folder: Path) -> Climb:
    source = f"import torch\n\ndef forward(x):\n    return {body}\n"
    task = replace(TASK, reference=Reference(source=source))
    return TaskRung(Store(root=folder)).climb(Climb(task=task, candidate=Candidate(source="")))


UNFIT = {
    "torch.nn.functional.dropout(x, 0.5, True)": "draws random numbers",
    "x + torch.randn_like(x)": "draws random numbers",
    "x * float('nan')": "no finite number",
    "(x + 1e9) - 1e9": "zeros would be accepted for y",
}


@pytest.mark.parametrize("body", UNFIT)
def test_what_cannot_refute_is_undecided(body: str, tmp_path: Path) -> None:
    climbed = tried(body, tmp_path)
    (evidence,) = climbed.evidence
    assert evidence.verdict is Verdict.UNDECIDED
    assert UNFIT[body] in (evidence.reason or "")
    assert climbed.is_over


def test_what_cannot_refute_is_timed_only_if_it_is_trusted() -> None:
    source = "import torch\n\ndef forward(x):\n    return torch.nn.functional.dropout(x, 0.25, True)\n"
    with pytest.raises(Undecided, match="draws random numbers"):
        usable(replace(TASK, reference=Reference(source=source)))


@pytest.mark.parametrize("body", ["torch.softmax(x, -1)", "x.clone()", "torch.zeros_like(x)", "x.relu() * 2"])
def test_what_can_refute_goes_on_without_a_word(body: str, tmp_path: Path) -> None:
    climbed = tried(body, tmp_path)
    assert climbed.evidence == ()
    assert climbed.task.distributions == TASK.distributions


def test_an_operation_that_torch_has_for_sixteen_bits_on_gpus_alone_can_be_used(tmp_path: Path) -> None:
    body = "torch.nn.functional.local_response_norm(x.view(2, 3, -1), 3).view_as(x)"
    source = f"import torch\n\ndef forward(x):\n    return {body}\n"
    cases = (Case(name="one", role=Role.CHECK, dims={"R": 6, "C": 33}, dtype="bf16"),)
    task = replace(TASK, reference=Reference(source=source), cases=cases)
    assert TaskRung(Store(root=tmp_path)).climb(Climb(task=task, candidate=Candidate(source=""))).evidence == ()


def test_a_distribution_without_finite_results_is_left_out(tmp_path: Path) -> None:
    assert tried("x.exp() / (x.exp() + 1)", tmp_path).task.distributions == ("normal", "negative")


def test_a_reference_that_raises_is_a_mistake_in_the_task(tmp_path: Path) -> None:
    with pytest.raises(TaskError, match="raises RuntimeError in case one"):
        tried("x @ x", tmp_path)


def test_suites_were_admitted_before_and_a_trusted_task_is_not_tried() -> None:
    climbed = Climb(task=replace(TASK, suite="paper"), candidate=Candidate(source=""))
    assert TaskRung().climb(climbed) is climbed
    assert not any(isinstance(rung, TaskRung) for rung in rungs(trust_task=True))


def test_a_climb_ends_at_a_task_that_cannot_be_used(tmp_path: Path) -> None:
    unfit = tried("x + torch.randn_like(x)", tmp_path)
    assert climb_on(unfit, [SourceRung()]).evidence == unfit.evidence
