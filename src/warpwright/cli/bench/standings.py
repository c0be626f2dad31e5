"""Prints judged candidates, the verdict first."""

from __future__ import annotations

from typing import TYPE_CHECKING

from warpwright.cli.check.verdicts import show_refusal
from warpwright.cli.screen import bad, faint, good, plain, screen, show_table
from warpwright.core.records.evidence import Verdict
from warpwright.report.standings import Standing, standings, summary

if TYPE_CHECKING:
    from warpwright.core.records.judged import Judged
    from warpwright.core.task import Task
    from warpwright.judge.timing.inference import Interval


def show_judged(task: Task, judged: Judged) -> None:
    """Shows verdict, times, baselines, and the distance to the physical limit."""
    _verdict(judged)
    found = standings(task, judged)
    if found:
        columns = (
            "case",
            "L2",
            "time µs",
            "95 %",
            "best baseline",
            "speed-up",
            "at least",
            "of limit",
            "of copy",
            "GB/s",
            "TFLOP/s",
            "memory",
            "",
        )
        show_table(columns, [_row(item) for item in found])
        _foot(judged, found)
    for fault in judged.faults:
        screen().print(faint(f"{fault.where}: {fault.message}"))


def _verdict(judged: Judged) -> None:
    for item in judged.evidence:
        if item.verdict is Verdict.REFUTED:
            screen().print(plain(judged.label))
            show_refusal(item.verdict, item.counterexample, item.reason)
            return
    if judged.evidence:
        facts = judged.evidence[0].facts
        screen().print(f"{plain(judged.label)}: {good('Holds')} on {facts.get('draws')} draws, twice each.")
    else:
        screen().print(f"{plain(judged.label)}: {bad('not judged')}")


def _row(item: Standing) -> tuple[str, ...]:
    return (
        plain(item.case),
        item.cache.value,
        _number(item.time_us),
        f"{item.time_us.low:.4g}–{item.time_us.high:.4g}" if item.time_us else "",
        plain(f"{item.best_rival} {item.rivals_us[item.best_rival].value:.4g}") if item.best_rival else "",
        f"{item.speed_up.value:.3g}" if item.speed_up else "",
        f"{item.speed_up.low:.3g}" if item.speed_up else "",
        f"{item.share_of_limit:.0%}" if item.share_of_limit else "",
        f"{item.share_of_copy:.0%}" if item.share_of_copy else "",
        f"{item.gb_per_s:.0f}" if item.gb_per_s else "",
        f"{item.tflop_per_s:.3g}" if item.tflop_per_s else "",
        f"{item.memory_ratio:.3g}" if item.memory_ratio is not None else "",
        bad(f"invalid: {item.invalid}") if item.invalid else "",
    )


def _foot(judged: Judged, found: tuple[Standing, ...]) -> None:
    figures = summary(found)
    if figures["geometric_mean"] is not None:
        screen().print(f"Geometric mean {figures['geometric_mean']:.3g} against the best baseline of each case, cold.")
    scene = judged.measurements[0].scene
    machine = f"{scene.gpu}, driver {scene.driver}, torch {scene.torch}, warpwright {scene.warpwright}"
    screen().print(faint(", ".join([machine, *(f"{name} {value}" for name, value in scene.settings.items())])))


def _number(value: Interval | None) -> str:
    return f"{value.value:.4g}" if value else ""
