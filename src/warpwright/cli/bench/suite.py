"""Prints the results of a whole suite, for `warpwright bench --suite`."""

from __future__ import annotations

from collections.abc import Sequence

from warpwright.app.kernels.suite import SuiteResult
from warpwright.cli.screen import faint, plain, screen, show_table
from warpwright.core.task import Task
from warpwright.report.standings import Standing
from warpwright.report.suite import Against

COLUMNS = ("task", "case", "L2", "time µs", "of limit", "of copy")


def show_suite(found: SuiteResult) -> None:
    """Prints all times, kernels that could not be sealed, and the suite against each baseline."""
    told, stood = found.overview, found.standings
    baselines = list(dict.fromkeys(name for _, item in stood for name in item.rivals_us))
    rows = [_row(task, item, baselines) for task, item in stood]
    show_table((*COLUMNS, *(f"vs {name}" for name in baselines), ""), rows, title=f"Suite {told.suite}")
    for key, reason in found.refused.items():
        screen().print(f"{plain(key)}: {plain(reason)}")
    show_table(
        ("against", "tasks timed", "geometric mean", "median", "> 1", "> 1.5", "> 2"), map(_against, told.against)
    )
    screen().print(faint(f"{told.right} of {told.tasks} tasks have a right kernel, {told.refuted} a refuted one."))


def _row(task: Task, item: Standing, baselines: Sequence[str]) -> list[str]:
    mine = item.time_us.value if item.time_us else None
    cells = [task.key, item.case, item.cache.value, "" if mine is None else f"{mine:.4g}"]
    cells += ["" if share is None else f"{share:.0%}" for share in (item.share_of_limit, item.share_of_copy)]
    for name in baselines:
        baseline = item.rivals_us.get(name)
        cells.append("" if baseline is None else f"{baseline.value / mine:.3g}" if mine else f"{baseline.value:.4g} µs")
    return [*map(plain, cells), plain(item.invalid or "") if mine is not None else ""]


def _against(item: Against) -> list[str]:
    def figure(value: float | None) -> str:
        return "" if value is None else f"{value:.3g}"

    shares = [f"{share:.0%}" for share in item.fast.values()]
    return [plain(item.baseline), str(item.timed), figure(item.geometric_mean), figure(item.median), *shares]
