"""Tests whether measured times can be trusted, on a machine with a GPU.

same     a kernel against itself, in two alternating processes: how often the 95 % interval of the ratio contains 1
repeat   a kernel ten times, each time in a fresh process: how far apart the medians are
ncu      the judge's cold median beside that of several calls under NVIDIA's profiler

Run: python bench/trust.py [same|repeat|ncu ...] [--pairs 10] [--each 10] [--only KERNEL] [--out FILE]. The exit status
is 1 if a bar is missed.
"""

from __future__ import annotations

import argparse
import json
import random
import statistics
import sys
import time
from collections.abc import Iterator, Sequence
from contextlib import ExitStack, contextmanager
from dataclasses import replace
from pathlib import Path

from warpwright.core.candidate import Candidate, Flags
from warpwright.core.errors import Undecided
from warpwright.core.launch.sealed import Sealed
from warpwright.core.records.judged import Job, JudgeOptions
from warpwright.core.records.measurement import Cache
from warpwright.core.task import Draw, Role
from warpwright.dispatch.bundle import make_job
from warpwright.judge.checks.examine import stage_candidate
from warpwright.judge.checks.reference_cache import ReferenceCache
from warpwright.judge.judging import Judge
from warpwright.judge.processes import kernel_process
from warpwright.judge.processes.workers import Worker
from warpwright.judge.timing.case_timing import slots_for
from warpwright.judge.timing.inference import speed_up
from warpwright.judge.timing.interleaving import interleave
from warpwright.judge.timing.nvml import Nvml
from warpwright.judge.timing.stopping import Limits
from warpwright.judge.timing.timed_candidate import TimedCandidate
from warpwright.judge.watching import profile
from warpwright.seal.sealing import seal
from warpwright.tasks import load

CORPUS = Path(__file__).parents[1] / "tests" / "corpus" / "seal"
KERNELS = {
    "rmsnorm_ldg_lambda.cu": ("llama_rmsnorm:forward", "fp32", 0),
    "softmax_online_warp.cu": ("softmax:forward", "fp32", 1),
    "layernorm_welford_half.cu": ("layernorm:forward", "fp16", 0),
}
"""Each with its task, a dtype, and the number of the time case: a long call, a short one, a very long one."""
HELD, SPREAD, NEAR, NEAR_US, LONG_US = 0.90, 0.015, 0.03, 1.0, 100.0
CALLS = 9
"""The number of calls under the profiler."""


def prepared(name: str) -> Job:
    """Seals the kernel, with one case to be timed."""
    key, dtype, number = KERNELS[name]
    (task,) = load(key)
    case = [case for case in task.cases_of(Role.TIME) if case.dtype == dtype][number]
    small = next(case for case in task.cases_of(Role.CHECK) if case.dtype == dtype)
    kept = replace(task, dtypes=(dtype,), cases=(small, case), baselines=())
    sealed = seal(kept, Candidate(source=(CORPUS / name).read_text(encoding="utf-8"), flags=Flags(gpu="h200")))
    assert isinstance(sealed, Sealed), sealed
    return make_job(name, kept, sealed, asked=JudgeOptions(baselines=(), ceiling=False, draws_per_check_case=1))


def self_comparisons(job: Job, each: int, seed: int) -> list[list[list[list[float]]]]:
    """Returns the blocks of both sides for several measurements of a kernel against itself in one pair of processes."""
    generator, nvml, found = random.Random(seed), Nvml(), []
    with ExitStack() as stack:
        sides = [stack.enter_context(_side(name, job, generator)) for name in ("one", "two")]
        for _ in range(each):
            generator.shuffle(sides)
            series = interleave(sides, Cache.COLD, Limits(seconds=2.0), nvml)
            found.append([series["one"].blocks, series["two"].blocks])
    return found


@contextmanager
def _side(name: str, job: Job, generator: random.Random) -> Iterator[TimedCandidate]:
    assert job.sealed is not None
    (case,) = job.task.cases_of(Role.TIME)
    draw, references = Draw(case=case, seed=1), ReferenceCache(job.task)
    draws = [draw] * slots_for(job.sealed, case)
    with (
        Worker(kernel_process.main) as process,
        stage_candidate(process, job.task, job.sealed, draws, references) as staged,
    ):
        side = TimedCandidate(name, job.task, staged, references.scenario(draw), generator)
        if side.is_short():
            side.chain()
        yield side


def same(jobs: Sequence[Job], pairs: int, each: int) -> dict[str, object]:
    comparisons = [
        blocks for number in range(pairs) for blocks in self_comparisons(jobs[number % len(jobs)], each, number)
    ]
    ratios = [speed_up(one, two) for one, two in comparisons]
    held = sum(ratio.low <= 1.0 <= ratio.high for ratio in ratios)
    widths = statistics.median(ratio.high - ratio.low for ratio in ratios)
    print(f"same: the interval contains 1 in {held} of {len(ratios)} runs; median width {widths:.4f}")
    return {"held": held, "runs": len(ratios), "blocks": comparisons, "ok": held >= HELD * len(ratios)}


def repeat(judge: Judge, jobs: Sequence[Job], each: int) -> dict[str, object]:
    found: dict[str, object] = {"ok": True}
    for job in jobs:
        medians = [_cold_median(judge, job) for _ in range(each)]
        spread = (max(medians) - min(medians)) / statistics.median(medians)
        found[job.label] = medians
        found["ok"] = bool(found["ok"]) and spread < SPREAD
        print(f"repeat: {job.label}: {each} medians around {statistics.median(medians):.2f} µs, spread {spread:.2%}")
    return found


def ncu(judge: Judge, jobs: Sequence[Job]) -> dict[str, object]:
    found: dict[str, object] = {"ok": True}
    for job in jobs:
        mine = _cold_median(judge, job)
        (case,) = job.task.cases_of(Role.TIME)
        try:
            calls = _profiled(job, case.name)
        except Undecided as reason:
            print(f"ncu: {job.label}: {reason}")
            return {"ok": False, "reason": str(reason)}
        theirs = statistics.median(calls)
        near = abs(mine - theirs) <= (NEAR * theirs if theirs > LONG_US else NEAR_US)
        found[job.label], found["ok"] = [mine, calls], bool(found["ok"]) and near
        print(f"ncu: {job.label}: judge {mine:.2f} µs, ncu {theirs:.2f} µs")
    return found


def _profiled(job: Job, case: str) -> list[float]:
    """The times of several calls; the profiler's times of one call vary by more than a tenth of a microsecond."""
    watched = profile(job, case, calls=CALLS)
    kernels = len(watched) // CALLS
    return [sum(item.time_us for item in watched[first : first + kernels]) for first in range(0, len(watched), kernels)]


def _cold_median(judge: Judge, job: Job) -> float:
    judged = judge.judge(job)
    assert not judged.faults, judged.faults
    (cold,) = (item for item in judged.measurements if item.cache is Cache.COLD)
    assert cold.invalid is None, cold.invalid
    assert cold.median_us is not None
    return cold.median_us


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("questions", nargs="*", default=["same", "repeat", "ncu"])
    parser.add_argument("--pairs", type=int, default=10, help="pairs of fresh processes for `same`")
    parser.add_argument("--each", type=int, default=10, help="measurements per pair, and repeats per kernel")
    parser.add_argument("--only", choices=sorted(KERNELS), help="one of the kernels alone")
    parser.add_argument("--out", type=Path, help="a file for the raw samples")
    options = parser.parse_args()
    names = [options.only] if options.only else list(KERNELS)
    jobs, judge, start = [prepared(name) for name in names], Judge(), time.perf_counter()
    asked = {
        "same": lambda: same(jobs, options.pairs, options.each),
        "repeat": lambda: repeat(judge, jobs, options.each),
        "ncu": lambda: ncu(judge, jobs),
    }
    found = {name: asked[name]() for name in options.questions}
    print(f"{time.perf_counter() - start:.0f} s on {judge.scene.gpu}, driver {judge.scene.driver}")
    judge.close()
    if options.out:
        options.out.write_text(json.dumps(found))
    return 0 if all(item["ok"] for item in found.values()) else 1


if __name__ == "__main__":
    sys.exit(main())
