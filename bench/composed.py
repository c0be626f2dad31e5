"""Prints the table of docs/composed.md, the times of composed kernels on a GPU, from folders of `bench --suite`.

warpwright bench --suite modern --kernels KERNELS --cases 1 --out FOLDER
python bench/composed.py FOLDER ...

Bars: every kernel correct; 85 % of the bandwidth of a plain copy for tasks bound by memory that move at least 64 MB; at
least 0.95 of the best baseline. The goal is a geometric mean of 1.25. The exit status is 1 if a bar is missed. The
limit of a training pair, and so its copy, assumes that tensors stay in the cache between its two passes, which large
ones do not: the bar on copies applies to single passes only.
"""

from __future__ import annotations

import argparse
import sys
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path

from warpwright.core.gpus.limit import traffic
from warpwright.core.records.evidence import Verdict
from warpwright.core.records.judged import Judged
from warpwright.core.records.measurement import Cache
from warpwright.core.task import Direction, Task
from warpwright.dispatch.bundle import read_jobs, read_results
from warpwright.judge.timing.inference import geometric_mean
from warpwright.report.standings import Standing, standings

BASELINES = ("eager", "compile", "max-autotune")
OF_COPY, LARGE_BYTES, NOT_SLOWER, AIM = 0.85, 64e6, 0.95, 1.25
HEAD = "| task | case | µs cold | warm | of limit | of copy | eager | compile | max-autotune | best | warm best |"


@dataclass(frozen=True, slots=True, kw_only=True)
class Row:
    task: Task
    cold: Standing
    warm: Standing | None

    @property
    def speed_up(self) -> float | None:
        return against_best(self.cold)

    @property
    def is_large(self) -> bool:
        case = next(case for case in self.task.cases if case.name == self.cold.case)
        is_pass = self.task.direction is not Direction.TRAINING
        return is_pass and self.cold.bound_by == "memory" and traffic(self.task.work, case) >= LARGE_BYTES


def against_best(item: Standing | None) -> float | None:
    """Returns the speed-up against the best of eager, compile and max-autotune, without experts' libraries."""
    rivals = [item.rivals_us[name].value for name in BASELINES if name in item.rivals_us] if item else []
    return min(rivals) / item.time_us.value if item and item.time_us and rivals else None


def rows_of(folder: Path) -> Iterator[tuple[Task, Judged, list[Row]]]:
    tasks = {job.id: job.task for job in read_jobs(folder / "jobs")}
    for judged in read_results(folder / "results"):
        found = {(item.case, item.cache): item for item in standings(tasks[judged.job], judged)}
        rows = [
            Row(task=tasks[judged.job], cold=item, warm=found.get((case, Cache.WARM)))
            for (case, cache), item in found.items()
            if cache is Cache.COLD
        ]
        yield tasks[judged.job], judged, rows


def line(row: Row) -> str:
    cold, warm = row.cold, row.warm
    cells = [f"{row.task.name}:{row.task.direction}", cold.case, _figure(cold.time_us and cold.time_us.value)]
    cells += [_figure(warm and warm.time_us and warm.time_us.value), _share(cold.share_of_limit)]
    cells.append(_share(cold.share_of_copy))
    cells += [_figure(cold.rivals_us[name].value if name in cold.rivals_us else None) for name in BASELINES]
    cells += [_figure(row.speed_up), _figure(against_best(warm))]
    return f"| {' | '.join(cells)} |{f' {cold.invalid}' if cold.invalid else ''}"


def _figure(value: float | None) -> str:
    return "" if value is None else f"{value:.3g}"


def _share(value: float | None) -> str:
    return "" if value is None else f"{value:.0%}"


def missed_bars(judged: Judged, rows: Iterable[Row]) -> Iterator[str]:
    if any(item.verdict is Verdict.REFUTED for item in judged.evidence):
        yield "is refuted"
    for row in rows:
        if not (row.speed_up is not None and row.speed_up >= NOT_SLOWER):
            yield f"{_figure(row.speed_up) or 'not measured'} against the best baseline on {row.cold.case}"
        if row.is_large and not (row.cold.share_of_copy is not None and row.cold.share_of_copy >= OF_COPY):
            yield f"{_share(row.cold.share_of_copy) or 'not measured'} of a plain copy on {row.cold.case}"


def printed(folder: Path) -> list[str]:
    """Prints the table of one suite and returns the missed bars."""
    found = sorted(rows_of(folder), key=lambda item: item[0].key)
    print(f"{HEAD}\n|{'---|' * (HEAD.count('|') - 1)}")
    for _, _, rows in found:
        print("\n".join(map(line, rows)))
    ratios = [row.speed_up for _, _, rows in found for row in rows if row.speed_up is not None]
    print(f"\n{len(found)} tasks; geometric mean {_figure(geometric_mean(ratios))} against the best (aim {AIM:g}).\n")
    return [f"{task.key}: {text}" for task, judged, rows in found for text in missed_bars(judged, rows)]


def main(arguments: Sequence[str] | None = None) -> int:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("folders", nargs="+", type=Path, metavar="FOLDER")
    missed = [text for folder in parser.parse_args(arguments).folders for text in printed(folder)]
    print("\n".join(missed) or "no bar is missed")
    return 1 if missed else 0


if __name__ == "__main__":
    sys.exit(main())
