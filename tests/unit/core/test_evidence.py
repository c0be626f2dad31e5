"""Evidence and measurements that contradict themselves cannot be built; a fault is never a verdict."""

from __future__ import annotations

import math

import pytest

from warpwright.core.records.evidence import Counterexample, Dossier, Evidence, Fault, Verdict
from warpwright.core.records.measurement import Cache, Measurement, Scene

PROOF = Counterexample(kind="value", message="off by one")
HOLDS = Evidence(candidate="c", rung="seal", verdict=Verdict.HOLDS)
REFUTED = Evidence(candidate="c", rung="check", verdict=Verdict.REFUTED, counterexample=PROOF)
UNDECIDED = Evidence(candidate="c", rung="check", verdict=Verdict.UNDECIDED, reason="unsupported: cub")
SKIPPED = Evidence(candidate="c", rung="judge", verdict=Verdict.UNDECIDED, reason="no GPU here", skipped=True)
FAULT = Fault(where="disk", message="full")


@pytest.mark.parametrize(
    "fields",
    [
        {"verdict": Verdict.REFUTED},
        {"verdict": Verdict.HOLDS, "counterexample": PROOF},
        {"verdict": Verdict.UNDECIDED},
        {"verdict": Verdict.UNDECIDED, "reason": ""},
        {"verdict": Verdict.HOLDS, "skipped": True},
        {"verdict": Verdict.REFUTED, "counterexample": PROOF, "skipped": True},
    ],
    ids=str,
)
def test_evidence_that_contradicts_itself_cannot_be_built(fields) -> None:
    with pytest.raises(ValueError, match=r"counterexample|reason|skipped"):
        Evidence(candidate="c", rung="r", **fields)


@pytest.mark.parametrize(
    ("evidence", "faults", "verdict"),
    [
        ((), (), Verdict.UNDECIDED),
        ((HOLDS,), (), Verdict.HOLDS),
        ((HOLDS, SKIPPED), (), Verdict.HOLDS),
        ((SKIPPED,), (), Verdict.UNDECIDED),
        ((HOLDS, UNDECIDED), (), Verdict.UNDECIDED),
        ((HOLDS, REFUTED), (), Verdict.REFUTED),
        ((REFUTED, UNDECIDED), (FAULT,), Verdict.REFUTED),
        ((HOLDS,), (FAULT,), Verdict.UNDECIDED),
        ((), (FAULT,), Verdict.UNDECIDED),
    ],
)
def test_a_dossier_combines_the_verdicts_of_its_evidence(evidence, faults, verdict: Verdict) -> None:
    dossier = Dossier(candidate="c", task="t", evidence=evidence, faults=faults)
    assert dossier.verdict is verdict
    assert (dossier.refutation is REFUTED) is (REFUTED in evidence)


def measured(*samples: float) -> Measurement:
    fields = {"subject": "s", "task": "t", "case": "c", "cache": Cache.COLD, "stopped_because": "enough"}
    return Measurement(samples_us=samples, scene=Scene(), **fields)


@pytest.mark.parametrize("sample", [0.0, -1.0, math.nan, math.inf, -math.inf])
def test_a_sample_is_positive_and_finite(sample: float) -> None:
    with pytest.raises(ValueError, match="positive, finite"):
        measured(1.0, sample)


def test_the_median_of_no_samples_is_none_and_not_zero() -> None:
    assert measured().median_us is None
    assert measured(3.0, 1.0, 2.0).median_us == 2.0
