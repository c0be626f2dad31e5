"""Proves the composer's kernels: one line for each task and direction of the suites, or for the named tasks.

No composed kernel may be DIFFERENT; the reasons of those that are UNSUPPORTED are counted. A folder of KernelBench
files stands for all of them, at sizes that the loader chooses.

Run: python bench/proofs.py [TASK ...] [--dtype fp32]. The exit status is 1 if a kernel is DIFFERENT.
"""

from __future__ import annotations

import argparse
import sys
import time
from collections import Counter

from warpwright.compose.survey import Surveyed, survey, surveyed
from warpwright.core.candidate import Candidate
from warpwright.prove.proof import Grade, Proof
from warpwright.prove.proving import prove
from warpwright.tasks import all_tasks


def proof_of(answer: Surveyed, dtype: str | None) -> Proof:
    """The proof of the default source; a task that is not composed is unsupported."""
    if answer.task is None or not answer.sources:
        return Proof(reason=f"not composed: {answer.reason}")
    task = answer.task.in_general()
    cases = [case for case in task.cases if dtype in (None, case.dtype)]
    return prove(task, Candidate(source=answer.sources[0]), cases)


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("tasks", nargs="*", metavar="TASK")
    parser.add_argument("--dtype", help="Only cases of this element type.")
    given = parser.parse_args()
    grades: Counter[Grade] = Counter()
    for answer in survey(given.tasks) if given.tasks else (surveyed(task) for task in all_tasks()):
        start = time.monotonic()
        found = proof_of(answer, given.dtype)
        grades[found.grade] += 1
        said = "" if found.grade is Grade.EQUAL else found.sentence[:300]
        print(f"{answer.name:45} {found.grade:12} {time.monotonic() - start:5.1f} s  {said}", flush=True)
    print(", ".join(f"{count} {grade}" for grade, count in grades.items()))
    return 1 if grades[Grade.DIFFERENT] else 0


if __name__ == "__main__":
    sys.exit(main())
