"""Measures what comparisons accept: changes of formulas, and the same formulas written otherwise.

Each change is applied to a correct kernel. `allclose` compares float32 results with the truth on three draws of
ordinary inputs, with the tolerance of KernelBench for fp32 (1e-4) and for smaller types (1e-2); `emulate` is the rung
of that name; `prove` compares formulas.

Run: python bench/equivalence.py [--only TEXT] [--json]. The exit status is 1 if `prove` decides a change wrongly.
"""

from __future__ import annotations

import argparse
import json
import sys
import time
from collections.abc import Sequence
from dataclasses import asdict, dataclass

from formulas.accepts import are_close, pairs
from formulas.changes import Change, changes

from warpwright.core.candidate import Candidate
from warpwright.core.records.evidence import Verdict
from warpwright.emulate.emulating import emulate
from warpwright.prove.proof import Grade
from warpwright.prove.proving import prove, small_cases
from warpwright.tasks.find import load

COLUMNS = ("allclose 1e-2", "allclose 1e-4", "emulate", "prove")


@dataclass(frozen=True, slots=True, kw_only=True)
class Row:
    """One change, and which comparisons accept it."""

    name: str
    is_equal: bool
    grade: str
    accepted: dict[str, bool]
    seconds: float
    """How long `prove` took, its build included."""

    @property
    def is_right(self) -> bool:
        return self.grade == (Grade.EQUAL if self.is_equal else Grade.DIFFERENT)


def row(change: Change) -> Row:
    task, *_ = load(change.task)
    candidate = Candidate(source=change.source)
    cases = [case for case in task.cases if case.dtype == change.dtype]
    start = time.monotonic()
    proof = prove(task, candidate, cases)
    seconds = time.monotonic() - start
    compared = [pair for case in small_cases(task, cases) for pair in pairs(task, candidate, case)]
    accepted = {
        "allclose 1e-2": are_close(compared, 1e-2),
        "allclose 1e-4": are_close(compared, 1e-4),
        "emulate": emulate(task, candidate, cases).verdict is Verdict.HOLDS,
        "prove": proof.grade is Grade.EQUAL,
    }
    return Row(name=change.name, is_equal=change.is_equal, grade=proof.grade, accepted=accepted, seconds=seconds)


def summary(rows: Sequence[Row]) -> list[str]:
    lines = []
    for is_equal, words in ((False, "wrong formulas"), (True, "equal formulas")):
        kind = [item for item in rows if item.is_equal is is_equal]
        counts = ", ".join(f"{name} {sum(item.accepted[name] for item in kind)}" for name in COLUMNS)
        lines.append(f"{len(kind)} {words}, accepted by: {counts}")
    times = sorted(item.seconds for item in rows)
    return [*lines, f"prove: median {times[len(times) // 2]:.1f} s per kernel, with its build"]


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--only", default="", help="Only changes whose name contains this.")
    parser.add_argument("--json", action="store_true")
    asked = parser.parse_args()
    rows = []
    for change in changes():
        if asked.only in change.name:
            rows.append(row(change))
            if not asked.json:
                marks = " ".join("yes" if rows[-1].accepted[name] else "no " for name in COLUMNS)
                print(f"{marks}  {'equal' if change.is_equal else 'wrong'}  {change.name}", flush=True)
    print(json.dumps([asdict(item) for item in rows]) if asked.json else "\n".join(summary(rows)))
    return 0 if all(item.is_right for item in rows) else 1


if __name__ == "__main__":
    sys.exit(main())
