"""Kernels of the corpus with changed formulas are DIFFERENT, and the same formulas written otherwise are EQUAL."""

from __future__ import annotations

import pytest
from formulas.changes import CORPUS, Change, changes

from warpwright.core.candidate import Candidate
from warpwright.core.climb import Climb
from warpwright.core.records.evidence import Verdict
from warpwright.prove.proof import Grade, Proof
from warpwright.prove.proving import prove
from warpwright.tasks import load
from warpwright.verify.ladder import climb_on
from warpwright.verify.prove import ProveRung

CHANGES = {change.name: change for change in changes()}
QUICK = (
    "layernorm_two_pass: epsilon outside the root",
    "softmax_online_warp: exp2 with log2e",
    "softmax_online_warp: maximum by comparing bits",
)


def proof_of(change: Change) -> Proof:
    task = load(change.task)[0]
    cases = [case for case in task.cases if case.dtype == change.dtype]
    return prove(task, Candidate(source=change.source), cases)


@pytest.mark.timeout(600)
@pytest.mark.parametrize("name", QUICK)
def test_formulas_are_decided(name: str) -> None:
    change = CHANGES[name]
    assert proof_of(change).grade is (Grade.EQUAL if change.is_equal else Grade.DIFFERENT)


@pytest.mark.corpus
@pytest.mark.timeout(600)
@pytest.mark.parametrize("name", [name for name in CHANGES if name not in QUICK])
def test_every_change_is_decided(name: str) -> None:
    change = CHANGES[name]
    found = proof_of(change)
    assert found.grade is (Grade.EQUAL if change.is_equal else Grade.DIFFERENT), found.sentence


@pytest.mark.timeout(600)
@pytest.mark.parametrize(
    ("kernel", "task", "dtype"),
    [("rmsnorm_half2", "paper/llama_rmsnorm", "fp16"), ("linear_mm_then_bias", "paper/mnist_linear", "fp32")],
)
def test_halves_and_products_of_torch_are_lifted_by_the_rung(kernel: str, task: str, dtype: str) -> None:
    """Rounding to sixteen bits is the identity; the rung's evidence says what was compared."""
    asked = load(task)[0]
    cases = tuple(case for case in asked.cases if case.dtype == dtype)
    source = (CORPUS / f"{kernel}.cu").read_text(encoding="utf-8")
    climbed = climb_on(Climb(task=asked, candidate=Candidate(source=source), cases=cases), [ProveRung()])
    (evidence,) = climbed.evidence
    assert evidence.verdict is Verdict.HOLDS, evidence.reason or evidence.counterexample
    assert evidence.facts["grade"] == "equal"
