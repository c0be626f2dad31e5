"""A folder of labelled kernels: originals, and faults of every class with their witnesses.

NAME/right.cu and NAME/CLASS-N.cu are the kernels of one original; NAME/rows.json is written last and marks it as done.
labels.csv joins all of them, tasks/ holds the problems, so that the folder can be moved.
"""

from __future__ import annotations

import csv
import json
from collections import Counter
from collections.abc import Iterator
from dataclasses import asdict, dataclass, replace
from pathlib import Path

from warpwright.archive.travel.whole_files import atomic_write
from warpwright.core.candidate import Candidate
from warpwright.core.records.evidence import Verdict
from warpwright.core.task import Task
from warpwright.faults.context import Context
from warpwright.faults.mutants import Mutant, some_of_each_class
from warpwright.faults.running import Runner
from warpwright.faults.witness import ASKED, Searcher, Witness

RIGHT = "right"
_ROWS, _SHOWN = "rows.json", 200
_TRIES = 3
"""Mutants tried for each fault that is wanted; the others have no witness."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Row:
    """A kernel of the folder with its label."""

    file: str
    task: str
    verdict: str
    kind: str
    fault: str = ""
    """The kind of the fault within its class."""
    scope: str = ASKED
    line: int | None = None
    change: str = ""
    witness: str = ""


@dataclass(frozen=True, slots=True, kw_only=True)
class Harvest:
    """The kernels of one original, or why there are none."""

    name: str
    rows: tuple[Row, ...] = ()
    reason: str | None = None
    without_witness: int = 0
    """Mutants for which no witness was found."""


def harvest_in(folder: Path, name: str) -> Harvest | None:
    """What was made of an original before; None if it was not done."""
    path = folder / name / _ROWS
    if not path.is_file():
        return None
    told = json.loads(path.read_text())
    return Harvest(**{**told, "rows": tuple(Row(**row) for row in told["rows"])})


@dataclass(frozen=True, slots=True, kw_only=True)
class Planter:
    """Plants faults in one original and writes those that have a witness."""

    folder: Path
    name: str
    spec: str
    task: Task
    original: Candidate
    context: Context
    runner: Runner

    def harvest(self, each: int, seed: int) -> Harvest:
        """Writes the original and up to `each` witnessed faults of every class."""
        searcher = Searcher(task=self.task, original=self.original, runner=self.runner)
        if not searcher.is_usable():
            return without_kernels(self.folder, self.name, "it is not right on any input that a CPU can run")
        kept: Counter[str] = Counter()
        rows, lost = [self._write(RIGHT, self.original.source)], 0
        for mutant in some_of_each_class(self.original.source, _TRIES * each, seed, self.context):
            witness = searcher.witness(mutant) if kept[mutant.family] < each else None
            if witness is not None:
                label = f"{mutant.family.replace(' ', '-')}-{kept[mutant.family]}"
                rows.append(_labelled(self._write(label, mutant.source), mutant, witness))
                kept[mutant.family] += 1
            elif kept[mutant.family] < each:
                lost += 1
        return _done(self.folder, Harvest(name=self.name, rows=tuple(rows), without_witness=lost))

    def _write(self, label: str, source: str) -> Row:
        path = self.folder / self.name / f"{label}.cu"
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(source, encoding="utf-8", errors="surrogateescape")
        file = path.relative_to(self.folder).as_posix()
        return Row(file=file, task=self.spec, verdict=Verdict.HOLDS.value, kind=RIGHT)


def without_kernels(folder: Path, name: str, reason: str) -> Harvest:
    """Notes why there is no original, so that it is not tried again."""
    return _done(folder, Harvest(name=name, reason=reason))


def _labelled(row: Row, mutant: Mutant, witness: Witness) -> Row:
    where = " ".join(filter(None, (witness.case, witness.distribution, witness.order)))
    return replace(
        row,
        verdict=(Verdict.REFUTED if witness.scope == ASKED else Verdict.HOLDS).value,
        kind=mutant.family,
        fault=mutant.kind,
        scope=witness.scope,
        line=mutant.line,
        change=f"{mutant.was[:_SHOWN]} -> {mutant.became[:_SHOWN]}",
        witness=f"{where}: {witness.how}" if where else witness.how,
    )


def _done(folder: Path, harvest: Harvest) -> Harvest:
    place = folder / harvest.name / _ROWS
    place.parent.mkdir(parents=True, exist_ok=True)
    with atomic_write(place) as path:
        path.write_text(json.dumps(asdict(harvest), indent=1))
    return harvest


def write_labels(folder: Path) -> list[Row]:
    """Writes labels.csv from everything that is done."""
    rows = list(_all_rows(folder))
    with atomic_write(folder / "labels.csv") as path, path.open("w", newline="", encoding="utf-8") as file:
        table = csv.writer(file)
        table.writerow(["file", "task", "verdict", "class", "kind", "scope", "line", "change", "witness"])
        for row in rows:
            plain = (row.file, row.task, row.verdict, row.kind, row.fault, row.scope, row.line, row.change, row.witness)
            table.writerow(["" if value is None else value for value in plain])
    return rows


def _all_rows(folder: Path) -> Iterator[Row]:
    for path in sorted(folder.glob(f"*/{_ROWS}")):
        if found := harvest_in(folder, path.parent.name):
            yield from found.rows
