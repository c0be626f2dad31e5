"""A benchmark as one self-contained HTML page: totals of every level, then every problem."""

from __future__ import annotations

import html
from collections.abc import Iterable, Sequence

from warpwright.report.benchmark.figures import Outcome, Row, Totals
from warpwright.report.page import document

_CLASSES = {Outcome.HOLDS: "holds", Outcome.REFUTED: "refuted"}


def benchmark_page(title: str, rows: Sequence[Row], totals: Sequence[Totals], note: str = "") -> str:
    """Builds the page. `note` says how the figures can be repeated."""
    baselines = list(dict.fromkeys(name for row in rows for name in row.baselines_us))
    body = [f'<p class="note">{html.escape(note)}</p>' if note else "", _totals(totals), "<h2>Problems</h2>"]
    return document(title, "\n".join([*body, _problems(rows, baselines)]))


def _totals(totals: Sequence[Totals]) -> str:
    head = ("level", "against", "problems", "right", "fast_1", "fast_1.5", "fast_2", "geometric mean", "with fall-back")
    return _table(head, (_totals_cells(item) for item in totals))


def _totals_cells(item: Totals) -> list[str]:
    means = [_number(item.geometric_mean), _number(item.with_fallback)]
    shares = [f"{share:.0%}" for share in (item.right, *item.fast.values())]
    return [item.level, item.baseline, str(item.problems), *shares, *means]


def _problems(rows: Sequence[Row], baselines: Sequence[str]) -> str:
    head = ("level", "problem", "outcome", "µs", "95 %", *baselines, "speed-up", "at least", "memory", "library", "")
    return _table(
        head, (_cells(row, baselines) for row in rows), [_CLASSES.get(row.outcome, "undecided") for row in rows]
    )


def _cells(row: Row, baselines: Sequence[str]) -> list[str]:
    time, gain = row.time_us, row.speed_up
    return [
        row.level,
        row.name,
        row.outcome.value,
        _number(time.value if time else None),
        f"{time.low:.4g}–{time.high:.4g}" if time else "",
        *(_number(row.baselines_us.get(name)) for name in baselines),
        _number(gain.value if gain else None),
        _number(gain.low if gain else None),
        _number(row.memory_ratio),
        "" if row.library_share is None else f"{row.library_share:.0%}",
        row.reason or "",
    ]


def _table(head: Iterable[str], rows: Iterable[Sequence[str]], classes: Sequence[str] = ()) -> str:
    cells = ["".join(f"<td>{html.escape(cell)}</td>" for cell in row) for row in rows]
    named = classes or [""] * len(cells)
    body = "".join(f'<tr class="{name}">{row}</tr>' for name, row in zip(named, cells, strict=True))
    titles = "".join(f"<th>{html.escape(title)}</th>" for title in head)
    return f"<table><thead><tr>{titles}</tr></thead><tbody>{body}</tbody></table>"


def _number(value: float | None) -> str:
    return "" if value is None else f"{value:.4g}"
