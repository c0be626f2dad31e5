"""Prints what the composer can write: one line for each task and direction of the suites, or for the named tasks.

A folder of KernelBench files stands for all of them.

composes     a source was written; the number of kernels in it
cannot       no source was written, with the reason
our fault    no source was written because of a bug in the composer

With --check every source climbs the ladder, and its verdict is printed too. With --write FOLDER the sources are kept in
the form that bench/calibrate.py reads: TASK_DIRECTION_K.cu, where 0 is the default; --variants N writes N for each
task, which differ in the knobs that are likely to matter.

Run: python bench/compose.py [TASK ...] [--gpu GPU] [--check] [--write FOLDER [--variants N]]. The exit status is 1 if a
check refutes, and 4 if a bug of the composer is in the way.
"""

from __future__ import annotations

import argparse
import sys
import time
from collections.abc import Sequence
from pathlib import Path

from warpwright.compose.survey import survey, surveyed
from warpwright.core.candidate import Candidate, Flags
from warpwright.core.gpus.table import gpu_named
from warpwright.core.records.evidence import Verdict
from warpwright.core.task import Task
from warpwright.tasks import all_tasks
from warpwright.verify.ladder import climb


def keep(task: Task, sources: Sequence[str], folder: Path) -> None:
    folder.mkdir(parents=True, exist_ok=True)
    for number, source in enumerate(sources):
        path = folder / f"{task.name}_{task.direction}_{number}.cu"
        path.write_text(f"// task: {task.key}\n{source}", encoding="utf-8")


def checked(task: Task, source: str, gpu: str) -> Verdict:
    dossier = climb(task, Candidate(source=source, flags=Flags(gpu=gpu_named(gpu).name))).dossier
    said = [fault.message for fault in dossier.faults]
    said += [item.reason for item in dossier.evidence if item.reason]
    if refuted := dossier.refutation:
        said.append(f"{refuted.rung}: {refuted.counterexample.case}: {refuted.counterexample.message}")
    print(f"{task.key:45} {dossier.verdict} {'; '.join(said)[:400]}", end="", flush=True)
    return dossier.verdict


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("tasks", nargs="*", metavar="TASK")
    parser.add_argument("--check", action="store_true")
    parser.add_argument("--write", type=Path, metavar="FOLDER")
    parser.add_argument("--variants", type=int, default=1, metavar="N")
    parser.add_argument("--gpu", default="h200")
    given = parser.parse_args()
    found = (
        survey(given.tasks, given.variants, given.gpu)
        if given.tasks
        else (surveyed(task, given.variants, given.gpu) for task in all_tasks())
    )
    asked, written, faults, verdicts = 0, 0, 0, []
    start = time.perf_counter()
    for answer in found:
        asked += 1
        if answer.task is None or answer.reason:
            faults += answer.fault is not None
            print(f"{answer.name:45} {answer.reason}", flush=True)
            continue
        written += 1
        if given.write:
            keep(answer.task, answer.sources, given.write)
        if given.check:
            verdicts += [checked(answer.task, source, given.gpu) for source in answer.sources]
        else:
            kernels = answer.sources[0].count("__global__")
            print(f"{answer.name:45} composes {kernels} kernels, {len(answer.sources)} variants", end="")
        print(f"  {time.perf_counter() - start:.1f} s", flush=True)
        start = time.perf_counter()
    print(f"{written} of {asked} compose" + (f"; {verdicts.count(Verdict.HOLDS)} hold" if given.check else ""), end="")
    print(f"; {faults} are faults of ours" if faults else "")
    return 1 if Verdict.REFUTED in verdicts else 4 if faults else 0


if __name__ == "__main__":
    sys.exit(main())
