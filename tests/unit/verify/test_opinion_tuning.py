"""Tuning of instructions: kept only if better on the training part, measured on held-out kernels."""

from __future__ import annotations

import json
import re
from pathlib import Path

import pytest

from warpwright.core.candidate import Candidate
from warpwright.core.protocols import Reply, Request
from warpwright.core.records.evidence import Verdict
from warpwright.core.task import Case, Output, Reference, Role, Task, TensorArg
from warpwright.verify.opinion.panel import Panel, Verifier, read_panel, write_panel
from warpwright.verify.opinion.tuning import Labelled, own, split, tune
from warpwright.verify.opinion.votes import Prior, Record

TASK = Task(
    name="double",
    arguments=(TensorArg(name="x", shape=("N",)),),
    outputs=(Output(name="y", shape=("N",)),),
    cases=(Case(name="small", role=Role.CHECK, dims={"N": 7}),),
    reference=Reference(source=""),
)


def kernel(number: int, kind: str) -> Labelled:
    verdict = Verdict.HOLDS if kind == "clean" else Verdict.REFUTED
    source = f"// kernel {number}, {'sound' if kind == 'clean' else 'broken'}\n"
    return Labelled(task=TASK, candidate=Candidate(source=source), verdict=verdict, kind=kind)


SET = [kernel(number, kind) for number, kind in enumerate(["clean", "race"] * 10)]
PANEL = Panel(verifiers=(Verifier(name="memory", instruction="Pass everything.\n", catches=("race",)),))


class Judge:
    """Passes everything unless the instruction tells it to look. Proposes the given instructions in turn."""

    name = "judge"

    def __init__(self, *instructions: str) -> None:
        self._instructions = list(instructions)
        self.tuning: list[str] = []

    def complete(self, request: Request) -> Reply:
        if request.purpose.endswith("-tuning"):
            self.tuning.append(request.prompt)
            return Reply(text=self._instructions.pop(0), model="judge")
        (about,) = set(re.findall(r"^BEGIN (\w+)$", request.prompt, re.MULTILINE))
        broken = "Look" in request.prompt and ", broken" in request.prompt
        verdict = "fail" if broken or "Reject" in request.prompt else "pass"
        reasons = [{"line": 1, "why": "it says so"}]
        told = {"about": about, "verdict": verdict, "confidence": 1.0, "reasons": reasons}
        return Reply(text=json.dumps(told), model="judge")


def test_a_better_instruction_is_kept_and_measured_on_held_out_kernels() -> None:
    judge = Judge("Look closely.")
    tuned = tune(PANEL, SET, judge, seed=1)
    (verifier,) = tuned.panel.verifiers
    assert verifier.instruction == "Look closely.\n"
    (outcome,) = tuned.outcomes
    assert (outcome.training_before, outcome.training_after) == (0.5, 1.0)
    assert (outcome.held_out_before, outcome.held_out_after) == (0.5, 1.0)
    assert outcome.rewritten == 1
    assert (tuned.training, tuned.held_out) == (12, 8)
    assert verifier.record == Record(passed_right=4, failed_wrong=4)


def test_an_instruction_that_is_no_better_is_dropped() -> None:
    judge = Judge("Reject everything.", "", "Pass everything.")
    tuned = tune(PANEL, SET, judge, seed=1)
    assert tuned.panel.verifiers[0].instruction == "Pass everything.\n"
    assert tuned.outcomes[0].rewritten == 0
    assert tuned.outcomes[0].held_out_after == 0.5
    assert len(judge.tuning) == 3


def test_the_held_out_part_is_never_shown_to_the_improving_model() -> None:
    judge = Judge("Reject everything.", "Stay.", "Sit.")
    tune(PANEL, SET, judge, seed=1)
    training, held_out = split(SET, 1)
    shown = "\n".join(judge.tuning)
    assert any(item.candidate.source in shown.replace("   1 | ", "") for item in training)
    assert not any(item.candidate.id in shown for item in held_out)
    assert "judged 6 rightly" in judge.tuning[0]


@pytest.mark.parametrize("seed", range(5))
def test_a_split_loses_nothing_and_depends_on_the_seed_alone(seed: int) -> None:
    training, held_out = split(SET, seed)
    assert split(SET[::-1], seed) == (training, held_out)
    assert {item.candidate.id for item in training}.isdisjoint(item.candidate.id for item in held_out)
    assert len(training) + len(held_out) == len(SET)
    assert sum(item.right for item in training) == 6
    assert split(SET, seed + 100) != (training, held_out)


def test_classes_of_one_kernel_are_on_both_sides() -> None:
    many = [kernel(number, f"class {number}") for number in range(60)]
    training, held_out = split(many, 3)
    assert 20 <= len(training) <= 50
    assert held_out


def test_a_verifier_is_measured_on_its_own_kinds_and_on_unassigned_ones() -> None:
    panel = Panel(
        verifiers=(
            Verifier(name="memory", instruction="", catches=("race",)),
            Verifier(name="numerics", instruction="", catches=("epsilon",)),
        )
    )
    items = [kernel(number, kind) for number, kind in enumerate(("clean", "race", "epsilon", "odd"))]
    assert [item.kind for item in own(panel, panel.verifiers[0], items)] == ["clean", "race", "odd"]
    assert [item.kind for item in own(panel, panel.verifiers[1], items)] == ["clean", "epsilon", "odd"]


def test_without_kernels_there_is_no_share() -> None:
    tuned = tune(PANEL, [], Judge(), seed=0)
    assert tuned.outcomes[0].held_out_after is None
    assert tuned.panel.verifiers[0].record == Record()


def test_a_panel_is_read_back_as_written(tmp_path: Path) -> None:
    record = Record(failed_wrong=3)
    odd = Verifier(name="memory", instruction="Look\n", catches=('a "b" \\c',), settled_by=("seal",), record=record)
    panel = Panel(verifiers=(odd,), prior=Prior(right=3, wrong=1))
    write_panel(panel, tmp_path / "new")
    assert read_panel(tmp_path / "new") == panel
    write_panel(read_panel(), tmp_path / "copy")
    assert read_panel(tmp_path / "copy") == read_panel()
