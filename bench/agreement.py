"""Compares verdicts of the emulator with those of a GPU, on a sample of correct and wrong kernels.

python bench/agreement.py make FOLDER [--each 1] [--jobs 2]   writes a bundle, and verdicts.json by the emulator
    on the GPU machine: python3 worker.pyz jobs/ --out results/
python bench/agreement.py compare FOLDER                      compares FOLDER/results with FOLDER/verdicts.json

The sample is every original of bench/mutants.py with at least one of its mutants, each time of other kinds, and the
kernels of tests/emulate/specimens, which fault, hang, race or are wrong in ways that are rare among mutants. The exit
status is 1 if a verdict differs; faults of ours and kernels that either side left undecided are listed but not counted.
"""

from __future__ import annotations

import argparse
import re
import sys
from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from functools import partial
from pathlib import Path

from mutants import ORIGINALS, specimen

from warpwright.core.candidate import Candidate
from warpwright.core.codec import dumps, loads
from warpwright.core.records.evidence import Evidence, Verdict
from warpwright.core.records.judged import Job, Judged, JudgeOptions
from warpwright.core.task import Role, Task
from warpwright.dispatch.bundle import read_results, write_bundle
from warpwright.dispatch.pool import parallel
from warpwright.dispatch.sealed_jobs import sealed_jobs
from warpwright.faults.mutants import mutants
from warpwright.tasks.find import load

PLANTED = Path(__file__).parents[1] / "tests" / "emulate" / "specimens"
VERDICTS = "verdicts.json"
SECRET = 20
"""The secret of the hidden cases, fixed so that every run uses the same ones."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Said:
    """The emulator's verdict on one kernel of the sample."""

    job: str
    label: str
    planted: str | None
    """The kind of bug; None for an original."""
    verdict: Verdict
    words: str


@dataclass(frozen=True, slots=True, kw_only=True)
class Picked:
    """A kernel of the sample."""

    label: str
    planted: str | None
    source: str


def planted() -> list[str]:
    """Lists the kernels with bugs planted by hand."""
    return sorted(path.stem for path in PLANTED.glob("*.cu"))


def chosen(name: str, each: int) -> list[Picked]:
    """Returns a kernel with a bug planted by hand; or an original with mutants whose kinds shift from original to
    original.
    """
    source, _, _, kind = described(name)
    if kind is not None:
        return [Picked(label=f"{name}, {kind}", planted=kind, source=source)]
    by_kind = {mutant.kind: mutant for mutant in reversed(list(mutants(source)))}
    kinds = sorted(by_kind)
    first = ORIGINALS.index(name)
    picked = [kinds[(first + number) % len(kinds)] for number in range(min(each, len(kinds)))]
    wrong = [Picked(label=f"{name}, {kind}", planted=kind, source=by_kind[kind].source) for kind in picked]
    return [Picked(label=name, planted=None, source=source), *wrong]


def described(name: str) -> tuple[str, str, str, str | None]:
    """Returns source, task, dtype, and the kind of bug of a kernel with a bug planted by hand."""
    if name in ORIGINALS:
        return *specimen(name), None
    source = (PLANTED / f"{name}.cu").read_text()
    header = re.match(r"// task: (\S+)  dtypes: (\w+)  planted: (.+)\n", source)
    assert header, f"{name} does not say what it is"
    return source, header[1], header[2], header[3]


def narrowed(name: str) -> Task:
    """Restricts the task to the check cases of the first dtype that the kernel supports."""
    _, asked, dtype, _ = described(name)
    task, *_ = load(asked)
    cases = tuple(case for case in task.cases if case.role is Role.CHECK and case.dtype == dtype)
    return replace(task, cases=cases, dtypes=(dtype,))


def sampled(name: str, each: int) -> list[tuple[Job, Said]]:
    from warpwright.verify.emulate import EmulateRung
    from warpwright.verify.ladder import climb

    task, found = narrowed(name), []
    wanted = JudgeOptions(time=False, baselines=())
    for picked in chosen(name, each):
        candidate = Candidate(source=picked.source)
        ((_, job),) = sealed_jobs(task, [(picked.label, candidate)], wanted, SECRET)
        if isinstance(job, Job):
            climbed = climb(task, candidate, task.cases, [EmulateRung()])
            found.append((job, _said(job.id, picked, climbed.evidence[-1])))
    return found


def _said(job: str, picked: Picked, evidence: Evidence) -> Said:
    return Said(job=job, label=picked.label, planted=picked.planted, verdict=evidence.verdict, words=_words(evidence))


def _words(evidence: Evidence) -> str:
    shown = evidence.counterexample
    return f"{shown.kind}: {shown.message}" if shown else evidence.reason or ""


def of_gpu(judged: Judged) -> tuple[Verdict | None, str]:
    """Returns the GPU's verdict on a kernel and its message; the verdict is None after a fault of ours."""
    refuted = next((item for item in judged.evidence if item.verdict is Verdict.REFUTED), None)
    if refuted is not None:
        return Verdict.REFUTED, _words(refuted)
    if judged.faults or not judged.evidence:
        return None, "; ".join(fault.message for fault in judged.faults) or "nothing was judged"
    unsure = next((item for item in judged.evidence if item.verdict is Verdict.UNDECIDED), None)
    return (Verdict.UNDECIDED, unsure.reason or "") if unsure else (Verdict.HOLDS, "")


def compared(said: Sequence[Said], judged: Mapping[str, Judged]) -> list[tuple[str, Said, Verdict | None, str]]:
    """Classifies each kernel as "agrees", "differs", "undecided", "fault" or "missing", with the GPU's message."""
    rows = []
    for one in said:
        verdict, words = of_gpu(judged[one.job]) if one.job in judged else (None, "no result was returned")
        if one.job not in judged:
            outcome = "missing"
        elif verdict is None:
            outcome = "fault"
        elif Verdict.UNDECIDED in (verdict, one.verdict):
            outcome = "undecided"
        else:
            outcome = "agrees" if verdict is one.verdict else "differs"
        rows.append((outcome, one, verdict, words))
    return rows


def make(folder: Path, each: int, jobs: int | None, names: Sequence[str]) -> int:
    found = [pair for pairs in parallel(partial(sampled, each=each), names, jobs=jobs) for pair in pairs]
    write_bundle(folder, [job for job, _ in found])
    (folder / VERDICTS).write_text(dumps(tuple(said for _, said in found)))
    counted = Counter(said.verdict.value for _, said in found)
    print(
        f"{len(found)} kernels in {folder}: {', '.join(f'{count} {name}' for name, count in sorted(counted.items()))}"
    )
    return 0


def compare(folder: Path) -> int:
    said = loads(tuple[Said, ...], (folder / VERDICTS).read_text())
    rows = compared(said, {item.job: item for item in read_results(folder / "results")})
    for outcome, one, verdict, words in rows:
        if outcome != "agrees":
            there = verdict.value if verdict else outcome
            print(f"{outcome}: {one.label}\n  emulator {one.verdict.value}: {one.words}\n  GPU {there}: {words}")
    counted = Counter(outcome for outcome, *_ in rows)
    print(", ".join(f"{count} {outcome}" for outcome, count in sorted(counted.items())))
    return 1 if counted["differs"] else 0


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("verb", choices=("make", "compare"))
    parser.add_argument("folder", type=Path)
    parser.add_argument("--each", type=int, default=1, help="mutants of each original")
    parser.add_argument("--only", action="append", help="an original or a specimen; repeat it")
    parser.add_argument("--jobs", type=int)
    options = parser.parse_args()
    if options.verb == "compare":
        return compare(options.folder)
    return make(options.folder, options.each, options.jobs, options.only or [*ORIGINALS, *planted()])


if __name__ == "__main__":
    sys.exit(main())
