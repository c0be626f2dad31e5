"""Prints the results of a benchmark, for `warpwright bench --suite kernelbench:FOLDER`."""

from __future__ import annotations

from collections.abc import Sequence

from warpwright.app.kernels.benchmark import BenchmarkResult
from warpwright.cli.screen import bad, faint, good, plain, screen, show_table
from warpwright.report.benchmark.figures import Outcome, Row, Totals


def show_benchmark(found: BenchmarkResult) -> None:
    """Prints every problem, the totals of every level, and the location of the files."""
    rows = found.rows
    baselines = list(dict.fromkeys(name for row in rows for name in row.baselines_us))
    head = ("problem", "outcome", "time µs", "95 %", *baselines, "speed-up", "at least", "memory", "library", "")
    show_table(head, [_row(row, baselines) for row in rows], title=found.title)
    columns = ("level", "against", "problems", "right", "fast_1", "fast_1.5", "fast_2", "geomean", "with fall-back")
    show_table(columns, map(_totals, found.totals))
    screen().print(faint(plain(f"results.csv and index.html are in {found.folder}")))


def _row(row: Row, baselines: Sequence[str]) -> list[str]:
    time, gain = row.time_us, row.speed_up
    cells = [_number(time.value if time else None), f"{time.low:.4g}–{time.high:.4g}" if time else ""]
    cells += [_number(row.baselines_us.get(name)) for name in baselines]
    cells += [_number(gain.value if gain else None), _number(gain.low if gain else None), _number(row.memory_ratio)]
    share = "" if row.library_share is None else f"{row.library_share:.0%}"
    return [plain(f"{row.level} {row.name}".strip()), _outcome(row.outcome), *cells, share, plain(row.reason or "")]


def _outcome(outcome: Outcome) -> str:
    if outcome is Outcome.HOLDS:
        return good(outcome.value)
    return bad(outcome.value) if outcome is Outcome.REFUTED else plain(outcome.value)


def _totals(item: Totals) -> list[str]:
    shares = [f"{share:.0%}" for share in (item.right, *item.fast.values())]
    return [
        plain(item.level), plain(item.baseline), str(item.problems), *shares,
        _number(item.geometric_mean), _number(item.with_fallback),
    ]  # fmt: skip


def _number(value: float | None) -> str:
    return "" if value is None else f"{value:.4g}"
