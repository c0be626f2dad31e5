"""Baselines are timed in every direction, and none of them drops out."""

from dataclasses import replace

import pytest

from warpwright.core.records.judged import Job, JudgeOptions
from warpwright.core.records.measurement import Cache
from warpwright.core.task import Role
from warpwright.tasks import load

pytestmark = [pytest.mark.gpu, pytest.mark.timeout(300)]


@pytest.mark.parametrize("direction", ["forward", "backward", "training"])
def test_eager_and_compiled_baselines_are_timed(judge, direction):
    (task,) = load(f"llama_rmsnorm:{direction}")
    case = next(case for case in task.cases_of(Role.TIME) if case.dtype == "bf16")
    kept = replace(task, cases=(next(iter(task.cases_of(Role.CHECK))), case))
    asked = JudgeOptions(baselines=("eager", "compile"), ceiling=False, caches=(Cache.COLD,), seconds_per_case=0.5)
    found = judge.judge(Job(id="1", label=direction, task=kept, sealed=None, asked=asked))
    assert not found.faults
    assert [item.subject for item in found.measurements] == ["eager", "compile"]
    assert all(item.median_us > 10.0 for item in found.measurements)
