"""The sample for a GPU: kernels of many kinds, and verdicts of both sides held against each other."""

from __future__ import annotations

import importlib
import sys
from pathlib import Path
from types import ModuleType

import pytest

from warpwright.core.records.evidence import Counterexample, Evidence, Fault, Verdict
from warpwright.core.records.judged import Judged

BENCH = Path(__file__).parents[2] / "bench"


@pytest.fixture(scope="module")
def agreement() -> ModuleType:
    sys.path.insert(0, str(BENCH))
    try:
        return importlib.import_module("agreement")
    finally:
        sys.path.remove(str(BENCH))


def evidence(verdict: Verdict) -> Evidence:
    shown = Counterexample(kind="mismatch", message="y[3] is 2.0") if verdict is Verdict.REFUTED else None
    reason = "no room for it" if verdict is Verdict.UNDECIDED else None
    return Evidence(candidate="c", rung="gpu", verdict=verdict, reason=reason, counterexample=shown)


def judged(job: str, *verdicts: Verdict, fault: bool = False) -> Judged:
    faults = (Fault(where="judge", message="the GPU was lost"),) if fault else ()
    return Judged(job=job, label=job, task="t", candidate="c", evidence=tuple(map(evidence, verdicts)), faults=faults)


def test_the_sample_is_large_and_of_many_kinds(agreement: ModuleType) -> None:
    names = [*agreement.ORIGINALS, *agreement.planted()]
    sample = [item for name in names for item in agreement.chosen(name, 1)]
    kinds = {item.planted for item in sample}
    assert len(sample) >= 40
    assert len({item.source for item in sample}) == len(sample)
    assert kinds >= {None, "numeric", "out of bounds", "hang", "uninitialised", "race"}
    assert len(kinds) >= 15


@pytest.mark.parametrize(
    ("ours", "there", "outcome"),
    [
        (Verdict.HOLDS, judged("j", Verdict.HOLDS, Verdict.HOLDS), "agrees"),
        (Verdict.REFUTED, judged("j", Verdict.HOLDS, Verdict.REFUTED), "agrees"),
        (Verdict.HOLDS, judged("j", Verdict.REFUTED), "differs"),
        (Verdict.REFUTED, judged("j", Verdict.HOLDS), "differs"),
        (Verdict.UNDECIDED, judged("j", Verdict.HOLDS), "undecided"),
        (Verdict.HOLDS, judged("j", Verdict.UNDECIDED), "undecided"),
        (Verdict.HOLDS, judged("j", fault=True), "fault"),
        (Verdict.REFUTED, judged("j", Verdict.REFUTED, fault=True), "agrees"),
        (Verdict.HOLDS, judged("other", Verdict.HOLDS), "missing"),
    ],
)
def test_verdicts_are_compared(agreement: ModuleType, ours: Verdict, there: Judged, outcome: str) -> None:
    said = agreement.Said(job="j", label="kernel", planted=None, verdict=ours, words="")
    ((found, *_),) = agreement.compared([said], {there.job: there})
    assert found == outcome
