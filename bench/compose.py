"""What the composer can write: one line for each task and direction of the suites, or for the tasks that are named.

composes     a source was written; the number of kernels in it
cannot       the composer gave up, and what was in the way
With --check every source climbs the ladder, and its verdict is printed too.
With --write FOLDER the sources are kept, as bench/calibrate.py reads them: TASK_DIRECTION_K.cu, the default being 0;
--variants N gives so many for each task, which differ in what is likely to matter.

Run: python bench/compose.py [TASK ...] [--check] [--write FOLDER [--variants N]]. Exit status 1 where a check refutes.
"""

from __future__ import annotations

import argparse
import sys
import time
from collections.abc import Sequence
from pathlib import Path

from warpwright.core.candidate import Candidate
from warpwright.core.evidence import Verdict
from warpwright.core.task import Task
from warpwright.propose import composer
from warpwright.tasks import all_tasks, load
from warpwright.verify.ladder import climb


def composed(task: Task, count: int) -> list[str]:
    """The sources of a task, the default first; none, and the reason printed, where it cannot be composed."""
    try:
        found = composer.plan(task)
    except composer.CannotCompose as error:
        print(f"{task.key:45} {error}", flush=True)
        return []
    return [found.write(genome) for genome in found.variants(count)]


def keep(task: Task, sources: Sequence[str], folder: Path) -> None:
    folder.mkdir(parents=True, exist_ok=True)
    for number, source in enumerate(sources):
        path = folder / f"{task.name}_{task.direction}_{number}.cu"
        path.write_text(f"// task: {task.key}\n{source}", encoding="utf-8")


def checked(task: Task, source: str) -> Verdict:
    dossier = climb(task, Candidate(source=source))
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
    given = parser.parse_args()
    tasks = [task for name in given.tasks for task in load(name)] or list(all_tasks())
    written, verdicts = 0, []
    for task in tasks:
        start = time.perf_counter()
        sources = composed(task, given.variants)
        if not sources:
            continue
        written += 1
        if given.write:
            keep(task, sources, given.write)
        if given.check:
            verdicts += [checked(task, source) for source in sources]
        else:
            kernels = sources[0].count("__global__")
            print(f"{task.key:45} composes {kernels} kernels, {len(sources)} variants", end="")
        print(f"  {time.perf_counter() - start:.1f} s", flush=True)
    print(f"{written} of {len(tasks)} compose" + (f"; {verdicts.count(Verdict.HOLDS)} hold" if given.check else ""))
    return 1 if Verdict.REFUTED in verdicts else 0


if __name__ == "__main__":
    sys.exit(main())
