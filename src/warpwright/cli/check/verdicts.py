"""Prints verdicts: the sentence, then the counterexample, then the rungs."""

from __future__ import annotations

from warpwright.cli.screen import bad, faint, good, plain, screen, show_table
from warpwright.core.records.evidence import Counterexample, Dossier, Evidence, Verdict
from warpwright.report.verdicts import counterexample_lines, details, sentence, warnings

_COLOURS = {Verdict.HOLDS: good, Verdict.REFUTED: bad, Verdict.UNDECIDED: faint}
_FEW_WARNINGS = 3


def show_dossier(dossier: Dossier, source: str = "", *, verbose: bool = False) -> None:
    """Prints the verdict of every rung."""
    screen().print(_COLOURS[dossier.verdict](sentence(dossier)), soft_wrap=True)
    for line in details(dossier, source):
        screen().print(f"  {plain(line)}", soft_wrap=True)
    noticed = warnings(dossier)
    for warning in noticed if verbose else noticed[:_FEW_WARNINGS]:
        screen().print(faint(f"  warning: {warning}"), soft_wrap=True)
    rows = [(plain(item.rung), _word(item), plain(_remark(item)), _seconds(item)) for item in dossier.evidence]
    show_table(("rung", "verdict", "", ""), rows)
    for fault in dossier.faults:
        screen().print(bad(f"our fault, no verdict: {fault.where}: {fault.message}"))


def show_refusal(verdict: Verdict, counterexample: Counterexample | None, reason: str | None) -> None:
    """Prints why a kernel was not sealed, with the line of source if known."""
    said = counterexample.message if counterexample else (reason or "")
    screen().print(f"{_COLOURS[verdict](verdict.capitalize())}: {plain(said)}")
    for line in counterexample_lines(counterexample) if counterexample is not None else ():
        screen().print(f"  {plain(line)}")


def _word(item: Evidence) -> str:
    return faint("not here") if item.skipped else _COLOURS[item.verdict](item.verdict.value)


def _remark(item: Evidence) -> str:
    return item.reason or (item.counterexample.kind if item.counterexample else "")


def _seconds(item: Evidence) -> str:
    return "" if item.seconds is None else faint(f"{item.seconds:.2f} s")
