"""What the judge saw, as a result: a verdict never covers a case that was not timed."""

from __future__ import annotations

from collections.abc import Mapping

import pytest

from warpwright.app.given import Subject
from warpwright.app.kernels.bench import Benched
from warpwright.core.records.evidence import Evidence, Fault, Verdict
from warpwright.core.records.judged import Judged
from warpwright.core.records.measurement import Cache, Measurement, Scene
from warpwright.core.task import Case, Output, Reference, Role, Task, TensorArg

TASK = Task(
    name="t",
    arguments=(TensorArg(name="x", shape=("N",)),),
    outputs=(Output(name="y", shape=("N",)),),
    cases=tuple(Case(name=name, role=Role.TIME, dims={"N": 8}) for name in ("small", "large")),
    reference=Reference(source=""),
)


def benched(peaks: Mapping[str, int | None]) -> Benched:
    """One measured case for each peak memory; eager needs 100 bytes."""
    times = [
        Measurement(
            subject=subject, task=TASK.key, case=case, cache=Cache.COLD, samples_us=(time, time),
            stopped_because="enough", scene=Scene(gpu="NVIDIA H200"), peak_bytes=bytes_,
        )
        for case, peak in peaks.items()
        for subject, time, bytes_ in (("mine", 10.0, peak), ("eager", 20.0, 100))
    ]  # fmt: skip
    evidence = Evidence(candidate="mine", rung="judge", verdict=Verdict.HOLDS)
    fault = Fault(where="baseline compile", message="lost")
    judged = Judged(
        job="j", label="k.cu", task=TASK.key, candidate="mine", evidence=(evidence,), measurements=tuple(times),
        faults=(fault,),
    )  # fmt: skip
    return Benched(label="k.cu", subject=Subject(task=TASK, name="t"), judged=judged)


@pytest.mark.parametrize(
    ("cases", "verdict"),
    [(("small", "large"), Verdict.HOLDS), (("small",), Verdict.UNDECIDED), ((), Verdict.UNDECIDED)],
)
def test_holds_covers_only_cases_that_were_timed(cases: tuple[str, ...], verdict: Verdict) -> None:
    found = benched(dict.fromkeys(cases, 100))
    assert found.verdict is verdict
    assert set(found.untimed_cases) == {"small", "large"} - set(cases)


def test_the_memory_of_a_kernel_is_that_of_its_worst_case() -> None:
    assert benched({"small": 50, "large": 300}).most_memory_ratio == 3.0
    assert benched({"small": 50, "large": None}).most_memory_ratio is None
