"""Tells which references can be evaluated in lifted numbers, how long that takes, and what the others lack.

python bench/references.py [FOLDER] [--only TEXT] [--out FILE]

Evaluates every (task, direction) pair of our suites, and with FOLDER of KernelBench the problems of its levels 1 and 2,
whose sizes are reduced because a problem of 8192 by 8192 weights has more numbers than fit into memory. A reference
counts as expressible if its doubles also agree with torch's result in double precision.

Bars: 90 % of our pairs, 190 of the 200 problems. The exit status is 1 if a bar is missed.
"""

from __future__ import annotations

import argparse
import ast
import json
import statistics
import sys
import tempfile
import time
from collections.abc import Iterator, Sequence
from dataclasses import asdict, dataclass
from pathlib import Path

import torch

from warpwright.core.calls import elements
from warpwright.core.errors import WarpwrightError
from warpwright.core.task import Case, Draw, Role, Task
from warpwright.oracle.truth.expected import exact_results
from warpwright.oracle.truth.expected import scenario as plain_scenario
from warpwright.prove import numbers, reference
from warpwright.prove.numbers import LEVELS, LOST
from warpwright.prove.tensor import LiftedTensor, values_of
from warpwright.tasks import all_tasks, load

OF_PAIRS, OF_PROBLEMS = 0.90, 0.95
SIZE = 2000
"""About how many elements a case should have."""
MOST = 128
"""The largest constant of a problem that is not halved."""
NEAR = 1e-6
"""Constants are those of single precision in torch, and those that are meant in lifted numbers."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Row:
    name: str
    missing: str | None
    """The reason why the reference cannot be evaluated, or agrees with torch no better than this."""
    seconds: float = 0.0
    elements: int = 0
    known: float = 1.0
    """The share of elements of the results that have residues."""


def pairs() -> Iterator[Row]:
    for task in all_tasks():
        yield row_of(task.key, task)


def problems(folder: Path, only: str) -> Iterator[Row]:
    for level in ("level1", "level2"):
        for path in sorted((folder / level).glob("*.py")):
            name = f"{level}/{path.stem}"
            if only in name:
                yield problem(name, path)


def problem(name: str, path: Path) -> Row:
    with tempfile.TemporaryDirectory() as place:
        copy = Path(place) / path.name
        copy.write_text(reduced(path.read_text(encoding="utf-8")), encoding="utf-8")
        try:
            return row_of(name, load(str(copy))[0])
        except WarpwrightError as error:
            return Row(name=name, missing=f"cannot be loaded: {error}")


def reduced(source: str) -> str:
    """The source with smaller numbers in its assignments: equal ones stay equal, and factors of two remain."""
    tree = ast.parse(source)
    for statement in tree.body:
        if isinstance(statement, ast.Assign):
            for node in ast.walk(statement.value):
                if isinstance(node, ast.Constant) and type(node.value) is int:
                    node.value = smaller(node.value)
    return ast.unparse(tree)


def smaller(value: int) -> int:
    while value > MOST:
        value //= 2
    return value


def row_of(name: str, task: Task) -> Row:
    draw = Draw(case=case_of(task), distribution=task.distributions[0], seed=1)
    numbers.clear()
    begin = time.perf_counter()
    try:
        found = reference.results(task, draw, reference.scenario(task, draw))
    except WarpwrightError as error:
        return Row(name=name, missing=str(error))
    seconds = time.perf_counter() - begin
    apart = distance(found, exact_results(task, draw, plain_scenario(task, draw)))
    missing = None if apart <= NEAR else f"values are {apart:.1e} apart from torch's"
    size = elements(task, draw.case)
    return Row(name=name, missing=missing, seconds=seconds, elements=size, known=known_share(found))


def case_of(task: Task) -> Case:
    """A case of about the wanted size, in single precision if the task has it."""
    small = [case for case in task.cases if case.role in (Role.CHECK, Role.ENVELOPE)]
    cases = [case for case in small if case.dtype == "fp32"] or small
    return min(cases, key=lambda case: abs(elements(task, case) - SIZE))


def distance(found: Sequence[torch.Tensor], expected: Sequence[torch.Tensor]) -> float:
    """The largest difference in units of the tensor's mean, or infinity where integers or special values differ."""
    apart = 0.0
    for one, other in zip(found, expected, strict=True):
        value, truth = values_of(one).to(torch.float64), other.to(torch.float64)
        odd = ~truth.isfinite()
        if not torch.equal(value[odd].nan_to_num(0.5), truth[odd].nan_to_num(0.5)):
            return float("inf")
        scale = truth[~odd].abs().mean() + 1e-9 if bool((~odd).any()) else 1.0
        apart = max([apart, *((value - truth)[~odd].abs() / scale).flatten().tolist()])
    return apart


def known_share(found: Sequence[torch.Tensor]) -> float:
    shares = [known(tensor.places) for tensor in found if isinstance(tensor, LiftedTensor) and tensor.numel()]
    return min(shares, default=1.0)


def known(places: torch.Tensor) -> float:
    residues = numbers.get(places)[..., 8 : 8 + 4 * LEVELS].contiguous().view(torch.int32)
    return float((residues.unflatten(-1, (LEVELS, -1)) != LOST).any(-2).float().mean())


def summary(title: str, rows: Sequence[Row], bar: float) -> bool:
    """Prints what was found, and tells whether the bar is met."""
    good = [row for row in rows if row.missing is None]
    times = sorted(row.seconds for row in good) or [0.0]
    print(f"{title}: {len(good)} of {len(rows)} are expressible; median {statistics.median(times):.3f} s,", end=" ")
    print(f"slowest {times[-1]:.2f} s; {sum(row.known == 1.0 for row in good)} with residues in every element")
    for row in rows:
        if row.missing is not None:
            print(f"  {row.name}: {row.missing}")
    return len(good) >= bar * len(rows)


def kept(rows: Iterator[Row], out: Path | None) -> Iterator[Row]:
    """Passes rows on, each written as soon as it is known."""
    for row in rows:
        if out is not None:
            with out.open("a", encoding="utf-8") as lines:
                lines.write(json.dumps(asdict(row)) + "\n")
        yield row


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("folder", nargs="?", type=Path, help="the folder that holds level1 and level2")
    parser.add_argument("--only", default="", help="only problems whose name contains this")
    parser.add_argument("--out", type=Path, help="appends every row as a line of JSON")
    given = parser.parse_args()
    own = list(kept(pairs(), given.out)) if not given.only else []
    others = list(kept(problems(given.folder, given.only), given.out)) if given.folder else []
    is_met = summary("our pairs", own, OF_PAIRS) if own else True
    return 0 if (summary("KernelBench", others, OF_PROBLEMS) if others else True) and is_met else 1


if __name__ == "__main__":
    sys.exit(main())
