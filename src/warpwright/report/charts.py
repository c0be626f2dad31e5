"""Draws small charts as SVG text, without scripts, fonts or external resources."""

from __future__ import annotations

import html
from collections.abc import Sequence

WIDTH, ROW, LABEL = 640, 26, 190
_COLOURS = {"good": "#2b8a3e", "bad": "#c92a2a", "plain": "#4263eb", "faint": "#adb5bd"}


def bars(rows: Sequence[tuple[str, float, str, str]], unit: str = "") -> str:
    """Draws horizontal bars: label, value, the words beside the bar, and a colour by name."""
    most = max((value for _, value, _, _ in rows), default=0.0) or 1.0
    room = WIDTH - LABEL - 150
    drawn = [
        _bar(number, label, value / most * room, words or f"{value:g}{unit}", colour)
        for number, (label, value, words, colour) in enumerate(rows)
    ]
    return svg(len(rows) * ROW, "".join(drawn))


def steps(points: Sequence[tuple[int, float]], last: int, ceiling: float | None = None) -> str:
    """Draws the best value so far over the proposals, as steps; a dashed line marks the ceiling."""
    height, left, bottom = 220, 60, 190
    top = max([value for _, value in points] + ([ceiling] if ceiling is not None else []), default=1.0) * 1.05 or 1.0

    def at(number: float, value: float) -> tuple[float, float]:
        across = left + number / max(last, 1) * (WIDTH - left - 20)
        return across, bottom - max(value, 0.0) / top * (bottom - 20)

    path, here = [], None
    for number, value in points:
        x, y = at(number, value)
        path.append(f"M{x:.1f},{y:.1f}" if here is None else f"H{x:.1f}V{y:.1f}")
        here = y
    if path:
        path.append(f"H{at(last, 0)[0]:.1f}")
    marks = "".join(f'<circle cx="{at(n, v)[0]:.1f}" cy="{at(n, v)[1]:.1f}" r="4" fill="#4263eb"/>' for n, v in points)
    line = f'<path d="{"".join(path)}" fill="none" stroke="#4263eb" stroke-width="2"/>' if path else ""
    axis = f'<path d="M{left},20V{bottom}H{WIDTH - 20}" fill="none" stroke="#adb5bd"/>'
    words: list[tuple[float, float, str, str]] = [
        (left - 8, 24, f"{top:.2g}", "end"),
        (left - 8, bottom, "0", "end"),
        (WIDTH - 20, 210, "proposals", "end"),
    ]
    if ceiling is not None:
        y = at(0, ceiling)[1]
        axis += f'<path d="M{left},{y:.1f}H{WIDTH - 20}" stroke="#2b8a3e" stroke-dasharray="6 4"/>'
        words.append((WIDTH - 20, y - 6, "physical limit", "end"))
    return svg(height, axis + line + marks + "".join(text(*word) for word in words))


def _bar(number: int, label: str, length: float, words: str, colour: str) -> str:
    y = number * ROW
    length = max(length, 1)
    bar = rectangle(LABEL, y + 4, length, ROW - 8, colour)
    return text(LABEL - 8, y + 18, label, "end") + bar + text(LABEL + length + 6, y + 18, words, "start")


def rectangle(x: float, y: float, width: float, height: float, colour: str) -> str:
    """Draws a filled rectangle; the colour is good, bad, plain or faint."""
    return f'<rect x="{x:.1f}" y="{y:.1f}" width="{width:.1f}" height="{height:.1f}" fill="{_COLOURS[colour]}"/>'


def text(x: float, y: float, words: str, anchor: str) -> str:
    """Draws words; the anchor is start or end."""
    return f'<text x="{x:.1f}" y="{y:.1f}" text-anchor="{anchor}">{html.escape(words)}</text>'


def svg(height: int, inside: str) -> str:
    """Wraps shapes into a picture of the usual width."""
    return f'<svg viewBox="0 0 {WIDTH} {height}" role="img" xmlns="http://www.w3.org/2000/svg">{inside}</svg>'
