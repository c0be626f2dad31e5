"""Measures how well the cost model ranks composed kernels of different tasks, against the times of docs/composed.md.

The composer's default kernels are sealed, counted and predicted for the first timed case, which is the one in the page.
Cases without a prediction are listed with the reason. The page's times belong to kernels with the same device code.

Run: python bench/predictions.py [TASK ...]. The exit status is 1 if the rank correlation is below 0.8.
"""

from __future__ import annotations

import math
import re
import sys
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path

from calibrate import BAR, half_within, spearman

from warpwright.compose import plan as plan_of
from warpwright.core.candidate import Candidate
from warpwright.core.launch.sealed import Sealed
from warpwright.core.task import Case, Role, Task
from warpwright.emulate.cost.counting import count
from warpwright.emulate.cost.model import predict
from warpwright.seal.sealing import seal
from warpwright.tasks import all_tasks

PAGE = Path(__file__).parents[1] / "docs" / "composed.md"
ROW = re.compile(r"^\| (?P<task>\w+:\w+) \| \S+ \| (?P<us>[\d.e+]+) \|", re.MULTILINE)
WORST = 8


def measured(names: list[str]) -> Iterator[tuple[Task, Case, float]]:
    tasks = {f"{task.name}:{task.direction}": task for task in all_tasks()}
    for row in ROW.finditer(PAGE.read_text(encoding="utf-8")):
        task = tasks[row["task"]]
        if not names or task.name in names or row["task"] in names:
            yield task, task.cases_of(Role.TIME)[0], float(row["us"])


def predicted_us(task: Task, case: Case) -> float | str:
    """Predicts the time of a case; a string is the reason why there is no prediction."""
    planned = plan_of(task)
    candidate = Candidate(source=planned.write(planned.default()))
    sealed = seal(replace(task, cases=(case,)), candidate)
    if not isinstance(sealed, Sealed):
        return "it could not be sealed"
    counted = count(task, candidate, sealed, case)
    return counted.reason or predict(task, sealed, case, counted).time_us


def main() -> int:
    found: dict[str, tuple[float, float]] = {}
    for task, case, us in measured(sys.argv[1:]):
        answer = predicted_us(task, case)
        said = f"{answer:8.1f} predicted" if isinstance(answer, float) else answer
        print(f"{task.key:40} {us:8.1f} us measured  {said}", flush=True)
        if isinstance(answer, float):
            found[task.key] = answer, us
    factors = {key: guess / us for key, (guess, us) in found.items()}
    far = sorted(factors, key=lambda key: -abs(math.log(factors[key])))[:WORST]
    correlation = spearman(list(found.values()))
    half = half_within(list(found.values()))
    print(f"{len(found)} kernels: Spearman {correlation and f'{correlation:.3f}'}, half within a factor of {half:.2f}")
    print("farthest off:", ", ".join(f"{key} {factors[key]:.2f}" for key in far))
    return 0 if correlation is not None and correlation >= BAR else 1


if __name__ == "__main__":
    sys.exit(main())
