"""The grade of a proof follows from its cases."""

from __future__ import annotations

import pytest

from warpwright.core.records.evidence import Counterexample, Dossier, Evidence, Verdict
from warpwright.prove.proof import CaseProof, Grade, Proof
from warpwright.report.verdicts import sentence

EQUAL = CaseProof(case="a", grade=Grade.EQUAL, draws=2, elements=8, error=1e-9)
OPEN = CaseProof(case="b", grade=Grade.UNSUPPORTED, reason="asm")
WRONG = CaseProof(case="c", grade=Grade.DIFFERENT, counterexample=Counterexample(kind="formula", message="y[0] is 2"))


@pytest.mark.parametrize(
    ("cases", "grade"),
    [
        ((EQUAL,), Grade.EQUAL),
        ((EQUAL, OPEN), Grade.UNSUPPORTED),
        ((OPEN, WRONG, EQUAL), Grade.DIFFERENT),
        ((), Grade.UNSUPPORTED),
    ],
)
def test_one_difference_refutes_and_one_open_case_leaves_open(cases: tuple[CaseProof, ...], grade: Grade) -> None:
    assert Proof(cases=cases).grade is grade


def test_an_open_proof_leaves_the_verdict_to_the_other_rungs() -> None:
    held = Evidence(candidate="k", rung="emulate", verdict=Verdict.HOLDS)
    open_proof = Evidence(candidate="k", rung="prove", verdict=Verdict.UNDECIDED, reason="unsupported: asm")
    equal = Evidence(candidate="k", rung="prove", verdict=Verdict.HOLDS)
    undecided = Dossier(candidate="k", task="t", evidence=(held, open_proof))
    proved = Dossier(candidate="k", task="t", evidence=(held, equal))
    assert undecided.verdict is Verdict.HOLDS
    assert sentence(undecided) != sentence(proved) != sentence(Dossier(candidate="k", task="t", evidence=(held,)))
