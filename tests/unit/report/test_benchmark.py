"""Figures of a benchmark, by hand, and the files made of them."""

from __future__ import annotations

import csv
import math

import pytest

from warpwright.core.records.evidence import Counterexample, Evidence, Fault, Verdict
from warpwright.core.records.judged import Judged
from warpwright.core.records.measurement import Cache, Measurement, Scene
from warpwright.core.task import Case, Output, Reference, Role, Task, TensorArg, Work
from warpwright.report.benchmark.figures import BEST, Outcome, Problem, rows_of, totals_of
from warpwright.report.benchmark.formats import as_csv, baseline_times, eval_results
from warpwright.report.benchmark.page import benchmark_page


def problem(name: str, level: str = "level1", **known: object) -> Problem:
    task = Task(
        name=name,
        suite="kernelbench",
        arguments=(TensorArg(name="x", shape=("N",)),),
        outputs=(Output(name="y", shape=("N",)),),
        cases=(Case(name="n", role=Role.TIME, dims={"N": 8}),),
        work=Work(reads="N*e", writes="N*e"),
        reference=Reference(source=""),
    )
    return Problem(**{"name": name, "level": level, "task": task, **known})


def measured(subject: str, time: float, peak: int | None) -> Measurement:
    return Measurement(
        subject=subject, task="t", case="n", cache=Cache.COLD, samples_us=(time * 0.999, time, time * 1.001),
        stopped_because="enough", scene=Scene(gpu="NVIDIA H200"), peak_bytes=peak,
    )  # fmt: skip


def judged(mine: float | None, wrong: str | None = None, faults: tuple[Fault, ...] = ()) -> Judged:
    verdict = Verdict.REFUTED if wrong else Verdict.HOLDS
    shown = Counterexample(kind="error", message=wrong) if wrong else None
    times = [measured("eager", 200.0, 64), measured("compile", 100.0, None)] if not wrong else []
    times += [measured("mine", mine, 128)] if mine else []
    return Judged(
        job="j", label="k", task="t", candidate="mine", measurements=tuple(times), faults=faults,
        evidence=(Evidence(candidate="mine", rung="judge", verdict=verdict, counterexample=shown),),
    )  # fmt: skip


PROBLEMS = [
    problem("1_fast", judged=judged(50.0)),
    problem("2_slow", judged=judged(125.0)),
    problem("3_wrong", judged=judged(None, wrong="off by one")),
    problem("10_refused", refused="does not compile"),
    problem("4_absent"),
    problem("5_fault", judged=judged(None, faults=(Fault(where="judge", message="no memory"),))),
    problem("6_unreadable", task=None, unreadable="no class Model"),
    problem("1_other", "level2", judged=judged(25.0)),
]


def test_every_problem_has_one_outcome_with_its_reason() -> None:
    rows = rows_of(PROBLEMS)
    assert [row.outcome for row in rows] == [
        Outcome.HOLDS, Outcome.HOLDS, Outcome.REFUTED, Outcome.REFUSED, Outcome.ABSENT, Outcome.FAULT,
        Outcome.UNREADABLE, Outcome.HOLDS,
    ]  # fmt: skip
    assert [row.reason for row in rows[2:7]] == [
        "off by one", "does not compile", None, "no memory", "no class Model",
    ]  # fmt: skip


def test_speed_ups_are_of_problems_that_hold_against_each_baseline_and_the_best() -> None:
    fast, slow, wrong = rows_of(PROBLEMS)[:3]
    assert fast.speed_ups == pytest.approx({"eager": 4.0, "compile": 2.0, BEST: 2.0})
    assert slow.speed_ups[BEST] == pytest.approx(0.8)
    assert wrong.speed_ups == {}
    assert fast.memory_ratio == 2.0


def test_totals_count_all_problems_and_fall_back_to_the_baseline() -> None:
    by_name = {(item.level, item.baseline): item for item in totals_of(rows_of(PROBLEMS))}
    level = by_name["level1", BEST]
    assert (level.problems, level.right) == (7, pytest.approx(2 / 7))
    assert level.fast == pytest.approx({"1": 1 / 7, "1.5": 1 / 7, "2": 0.0})
    assert level.geometric_mean == pytest.approx(math.sqrt(2.0 * 0.8))
    assert level.with_fallback == pytest.approx((2.0 * 0.8) ** (1 / 7))
    assert by_name["all", "eager"].fast["2"] == pytest.approx(2 / 8)


def test_a_single_level_has_no_total_over_all() -> None:
    assert {item.level for item in totals_of(rows_of(PROBLEMS[:3]))} == {"level1"}


def test_the_csv_has_one_line_for_each_problem_and_leaves_out_what_was_not_measured() -> None:
    lines = list(csv.DictReader(as_csv(rows_of(PROBLEMS)).splitlines()))
    assert [line["problem"] for line in lines] == [item.name for item in PROBLEMS]
    assert float(lines[0]["speedup_vs_best"]) == pytest.approx(2.0, rel=1e-2)
    assert (lines[2]["time_us"], lines[2]["reason"]) == ("", "off by one")


def test_kernelbench_reads_samples_by_problem_number_in_milliseconds() -> None:
    mine = PROBLEMS[:7]
    found = eval_results(mine, rows_of(mine))
    assert list(found) == ["1", "2", "3", "10"]
    assert found["1"][0]["runtime"] == pytest.approx(0.05, rel=1e-3)
    assert (found["3"][0]["compiled"], found["3"][0]["correctness"]) == (True, False)
    assert (found["10"][0]["compiled"], found["10"][0]["runtime"]) == (False, -1.0)
    times = baseline_times(mine, "eager")
    assert times["level1"]["2_slow.py"]["mean"] == pytest.approx(0.2)
    assert times["level1"]["2_slow.py"]["hardware"] == "NVIDIA H200"


def test_the_page_escapes_what_others_wrote() -> None:
    rows = rows_of([problem("1_x", judged=judged(None, wrong="<script>"))])
    text = benchmark_page("B", rows, totals_of(rows))
    assert "<script>" not in text
    assert "&lt;script&gt;" in text
