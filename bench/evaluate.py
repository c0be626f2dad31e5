"""Measures the time from source to verdict and timing on a machine with a GPU, with an empty compile cache.

one      seconds from source to verdict and timing of one kernel, with torch imported and baselines ready
many     kernels per minute for five tasks with several kernels each, compiled on all cores while the GPU is in use

Run: python bench/evaluate.py [--many 32]. Bars: one within 5 s, 30 per minute.
"""

from __future__ import annotations

import argparse
import multiprocessing
import os
import re
import statistics
import sys
import tempfile
import time
from collections.abc import Sequence
from concurrent.futures import Executor, ProcessPoolExecutor, as_completed
from dataclasses import replace
from pathlib import Path

from warpwright.core.candidate import Candidate, Flags
from warpwright.core.launch.sealed import Sealed
from warpwright.core.records.judged import Job, Judged, JudgeOptions
from warpwright.core.task import Role, Task
from warpwright.dispatch.bundle import make_job
from warpwright.judge.judging import Judge
from warpwright.seal.cache import Store, default_root
from warpwright.seal.capture.program import prebuilt
from warpwright.seal.device import nvcc as device
from warpwright.seal.refusal import Refusal
from warpwright.seal.sealing import seal
from warpwright.tasks import load

Named = tuple[str, Task, Candidate]
CORPUS = Path(__file__).parents[1] / "tests" / "corpus" / "seal"
HEADING = re.compile(r"// task: (?P<task>\S+)\s+dtypes: (?P<dtypes>[\w, ]+?)\s+style:")
MOST_S, LEAST_A_MINUTE = 5.0, 30.0
SINGLES = ("cumsum_block_scan.cu", "embedding_bytes.cu", "argmax_warp_pairs.cu")
FAMILIES = ("softmax", "layernorm", "rmsnorm", "swiglu", "bias_gelu")
"""Several candidates for each of a few tasks, as in a search; the first one of each task includes the time to compute
expected values.
"""


def named(path: Path) -> Named:
    """Returns a kernel with its task: the check cases of the dtypes that it supports, and the first time case of
    these.
    """
    source = path.read_text(encoding="utf-8")
    heading = HEADING.match(source)
    assert heading, path
    task, dtypes = load(heading["task"])[0], heading["dtypes"].split(", ")
    timed = [case for case in task.cases_of(Role.TIME) if case.dtype in dtypes][:1]
    checked = [case for case in task.cases_of(Role.CHECK) if case.dtype in dtypes]
    kept = replace(task, dtypes=tuple(dtypes), cases=(*checked, *timed), baselines=())
    return path.name, kept, Candidate(source=source, flags=Flags(gpu="h200"))


def job_of(item: Named, outcome: Sealed | Refusal) -> Job:
    label, task, _ = item
    assert isinstance(outcome, Sealed), (label, outcome)
    return make_job(label, task, outcome, asked=JudgeOptions(baselines=(), ceiling=False))


def sealed_job(item: Named) -> Job:
    _, task, candidate = item
    return job_of(item, seal(task, candidate))


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--many", type=int, default=32)
    options = parser.parse_args()
    with tempfile.TemporaryDirectory() as cache:
        os.environ["WARPWRIGHT_CACHE"] = cache
        store = Store(root=default_root())
        prebuilt(store)
        device.prepare(store)
        # Forked before CUDA is initialised; threads would slow down the judge, which is Python too and has priority.
        workers = max((os.cpu_count() or 1) - 2, 1)
        pool = ProcessPoolExecutor(workers, multiprocessing.get_context("fork"), initializer=os.nice, initargs=(10,))
        pool.submit(int).result()
        judge = Judge()
        paths = [path for family in FAMILIES for path in sorted(CORPUS.glob(f"{family}_*.cu"))]
        singles, rest = [named(CORPUS / name) for name in SINGLES], [named(path) for path in paths[: options.many]]
        judge.judge(sealed_job(singles[0]))  # the first job of a judge starts the fork server of its workers
        seconds = [_one(judge, item) for item in singles[1:]]
        rate, failed = _many(judge, rest, pool)
        judge.close()
        pool.shutdown()
    print(f"one kernel from source to verdict and time: {statistics.mean(seconds):.2f} s (bar {MOST_S:g})")
    print(f"{len(rest)} kernels: {rate:.0f} per minute (bar {LEAST_A_MINUTE:g}); failed: {', '.join(failed) or 'none'}")
    return 0 if statistics.mean(seconds) <= MOST_S and rate >= LEAST_A_MINUTE and not failed else 1


def _one(judge: Judge, item: Named) -> float:
    start = time.perf_counter()
    job = sealed_job(item)
    sealed = time.perf_counter()
    judged = judge.judge(job)
    assert judged.measurements, judged
    print(f"{item[0]}: seal {sealed - start:.2f} s, {_spent(judged)}")
    return time.perf_counter() - start


def _many(judge: Judge, items: Sequence[Named], pool: Executor) -> tuple[float, list[str]]:
    start, failed = time.perf_counter(), []
    sealing = {pool.submit(seal, task, candidate): (label, task, candidate) for label, task, candidate in items}
    for future in as_completed(sealing):
        judged = judge.judge(job_of(sealing[future], future.result()))
        print(f"{time.perf_counter() - start:.1f} s, {judged.label}: {_spent(judged)}")
        if not judged.measurements or judged.faults:
            failed.append(f"{judged.label} ({_why(judged)})")
    return 60 * len(items) / (time.perf_counter() - start), failed


def _why(judged: Judged) -> str:
    told = [item.counterexample.message for item in judged.evidence if item.counterexample]
    return "; ".join([*told, *(fault.message for fault in judged.faults)])


def _spent(judged: Judged) -> str:
    return ", ".join(f"{name} {seconds:.2f} s" for name, seconds in judged.seconds.items())


if __name__ == "__main__":
    sys.exit(main())
