"""Figures of a suite, computed by hand."""

from __future__ import annotations

import math

import pytest

from warpwright.core.records.evidence import Counterexample, Evidence, Verdict
from warpwright.core.records.judged import Judged
from warpwright.core.records.measurement import Cache, Measurement, Scene
from warpwright.core.task import Case, Output, Reference, Role, Task, TensorArg, Work
from warpwright.report.scoring import measured
from warpwright.report.suite import overview

SCENE = Scene(gpu="NVIDIA H200")


def task(name: str, suite: str = "s") -> Task:
    return Task(
        name=name,
        suite=suite,
        arguments=(TensorArg(name="x", shape=("N",)),),
        outputs=(Output(name="y", shape=("N",)),),
        cases=tuple(Case(name=f"n{n}", role=Role.TIME, dims={"N": n}, weight=n) for n in (1, 3)),
        work=Work(reads="N*e", writes="N*e"),
        reference=Reference(source=""),
    )


def times(subject: str, case: str, time: float) -> Measurement:
    samples = tuple(time * (1 + 0.001 * k) for k in (-1, 0, 1))
    return Measurement(
        subject=subject, task="t", case=case, cache=Cache.COLD, samples_us=samples, stopped_because="enough",
        scene=SCENE,
    )  # fmt: skip


def judged(candidate: str, ratios: dict[str, float], verdict: Verdict = Verdict.HOLDS) -> Judged:
    wrong = Counterexample(kind="error", message="off") if verdict is Verdict.REFUTED else None
    evidence = Evidence(candidate=candidate, rung="judge", verdict=verdict, counterexample=wrong)
    found = [times(candidate, case, 10.0) for case in ratios]
    found += [times("eager", case, 10.0 * ratio) for case, ratio in ratios.items()]
    return Judged(
        job=candidate, label="k", task="t", candidate=candidate, evidence=(evidence,), measurements=tuple(found)
    )


def test_shares_cover_all_tasks_and_means_those_with_correct_kernels() -> None:
    entries = [
        (task("a"), judged("a", {"n1": 2.0, "n3": 8.0})),
        (task("b"), judged("b", {"n1": 1.2, "n3": 1.2})),
        (task("c"), judged("c", {"n1": 9.0, "n3": 9.0}, Verdict.REFUTED)),
        (task("d"), None),
    ]
    found = overview("s", entries)
    assert (found.tasks, found.right, found.refuted) == (4, 2, 1)
    (eager,) = found.against
    assert eager.timed == 2
    assert eager.geometric_mean == pytest.approx(math.sqrt(4.0 * 1.2), rel=1e-3)
    assert eager.fast == {"1": 0.5, "1.5": 0.25, "2": 0.25}


def test_suites_are_never_mixed() -> None:
    with pytest.raises(ValueError, match="other"):
        overview("s", [(task("a"), None), (task("b", "other"), None)])


def test_a_score_weights_cases_by_their_share_of_traffic() -> None:
    score = measured(task("a"), judged("a", {"n1": 2.0, "n3": 8.0}))
    assert score is not None
    assert math.exp(score.value) == pytest.approx((2.0 * 8.0**3) ** (1 / 4), rel=1e-3)


def test_a_candidate_with_an_invalid_time_has_no_score() -> None:
    found = judged("a", {"n1": 2.0, "n3": 8.0})
    spoilt = Measurement(
        subject="a", task="t", case="n3", cache=Cache.COLD, samples_us=(1.0,), stopped_because="enough", scene=SCENE,
        invalid="below the physical floor",
    )  # fmt: skip
    kept = [item for item in found.measurements if not (item.subject == "a" and item.case == "n3")]
    assert measured(task("a"), Judged(job="a", label="k", task="t", candidate="a", evidence=found.evidence,
                                      measurements=(*kept, spoilt))) is None  # fmt: skip
