"""A measured kernel beside the best baseline and the physical limit of each case, as a table and as a picture."""

from __future__ import annotations

from collections.abc import Iterable, Sequence

from warpwright.core.records.measurement import Cache
from warpwright.judge.timing.inference import Interval
from warpwright.report.charts import LABEL, rectangle, svg, text
from warpwright.report.standings import Standing

_HEAD = "| case | kernel, µs | best of PyTorch, µs | speed-up | of the physical limit |\n|---|---|---|---|---|\n"
_CASE, _TOP = 52, 66
_ROOM = 160
"""The width of a baseline's bar; the rest is for words."""
_STYLE = (
    "<style>text{font:13px system-ui,sans-serif;fill:#343a40}"
    "@media(prefers-color-scheme:dark){text{fill:#ced4da}}</style>"
)


def table(standing: Iterable[Standing]) -> str:
    """Lists the valid cold cases as a Markdown table: medians with their 95 % intervals."""
    return _HEAD + "".join(map(_row, _cold(standing)))


def picture(standing: Iterable[Standing]) -> str:
    """Draws two bars for each valid cold case, the best baseline and the kernel, scaled to the baseline of the case.

    A mark shows the physical limit."""
    cases = _cold(standing)
    drawn = [_drawn(_TOP + number * _CASE, item) for number, item in enumerate(cases)]
    return svg(_TOP + len(cases) * _CASE, _STYLE + _key() + "".join(drawn))


def _key() -> str:
    """Draws the legend."""
    return (
        rectangle(LABEL, 8, 16, 12, "faint")
        + text(LABEL + 22, 19, "the fastest of PyTorch in this case", "start")
        + rectangle(LABEL, 28, 16, 12, "plain")
        + text(LABEL + 22, 39, "the kernel: median, 95 % interval", "start")
        + rectangle(LABEL + 270, 25, 2, 18, "good")
        + text(LABEL + 280, 39, "physical limit", "start")
    )


def _cold(standing: Iterable[Standing]) -> Sequence[Standing]:
    return [
        item for item in standing if item.cache is Cache.COLD and item.time_us and item.best_rival and not item.invalid
    ]


def _row(item: Standing) -> str:
    cells = (item.case, _with_interval(item.time_us), _baseline(item), _with_interval(item.speed_up, " times"))
    return f"| {' | '.join(cells)} | {_share(item)} |\n"


def _with_interval(found: Interval | None, unit: str = "") -> str:
    return f"{_digits(found.value)}{unit} ({_digits(found.low)} to {_digits(found.high)})" if found else ""


def _digits(value: float) -> str:
    """Formats a value with three significant digits, trailing zeros included, and without an exponent."""
    return f"{value:#.3g}".rstrip(".") if value < 1000 else f"{value:.0f}"


def _share(item: Standing) -> str:
    if item.share_of_limit is None:
        return ""
    return f"{item.share_of_limit:.0%}" if item.share_of_limit >= 0.01 else "under 1%"


def _baseline(item: Standing) -> str:
    assert item.best_rival is not None
    return f"{_digits(item.rivals_us[item.best_rival].value)} ({item.best_rival})"


def _drawn(top: int, item: Standing) -> str:
    assert item.best_rival is not None
    assert item.time_us is not None
    baseline = item.rivals_us[item.best_rival].value
    scale = _ROOM / baseline
    width = item.time_us.value * scale
    ratio = f", {_digits(item.speed_up.value)} times as fast" if item.speed_up else ""
    return (
        text(LABEL - 8, top + 24, item.case, "end")
        + rectangle(LABEL, top, _ROOM, 16, "faint")
        + text(LABEL + _ROOM + 8, top + 13, f"{_digits(baseline)} µs, {item.best_rival}", "start")
        + rectangle(LABEL, top + 20, width, 16, "plain")
        + (rectangle(LABEL + item.limit_us * scale, top + 17, 2, 22, "good") if item.limit_us else "")
        + text(LABEL + width + 8, top + 33, f"{_with_interval(item.time_us, ' µs')}{ratio}", "start")
    )
