"""Verdicts for people: the sentence first, then what shows it, then what to do next."""

from __future__ import annotations

from warpwright.cli.screen import bad, faint, good, plain, screen, show_table
from warpwright.core.evidence import Counterexample, Dossier, Evidence, Verdict

_COLOURS = {Verdict.HOLDS: good, Verdict.REFUTED: bad, Verdict.UNDECIDED: faint}
_SENTENCES = {
    Verdict.HOLDS: "Holds on every rung that this machine can climb.",
    Verdict.REFUTED: "Refuted.",
    Verdict.UNDECIDED: "Undecided.",
}


def show_dossier(dossier: Dossier) -> None:
    """What every rung said."""
    refutation = dossier.refutation
    if refutation is not None:
        show_refusal(Verdict.REFUTED, refutation.counterexample, None)
    else:
        screen().print(_COLOURS[dossier.verdict](_SENTENCES[dossier.verdict]))
    rows = [(plain(item.rung), _word(item), plain(_remark(item)), _seconds(item)) for item in dossier.evidence]
    show_table(("rung", "verdict", "", ""), rows)
    for fault in dossier.faults:
        screen().print(bad(f"our fault, no verdict: {fault.where}: {fault.message}"))


def show_refusal(verdict: Verdict, counterexample: Counterexample | None, reason: str | None) -> None:
    """Why not, with the line of source where there is one."""
    said = counterexample.message if counterexample else (reason or "")
    screen().print(f"{_COLOURS[verdict](verdict.capitalize())}: {plain(said)}")
    if counterexample is not None:
        for line in _details(counterexample):
            screen().print(f"  {plain(line)}")


def _details(counterexample: Counterexample) -> list[str]:
    found = [f"case {counterexample.case}"] if counterexample.case else []
    errors = counterexample.facts.get("errors") or []
    for error in errors[:3]:
        found.append(f"line {error['line']}: {error['text']}")
        found += [f"    {error['message']}"] if error["message"] != counterexample.message else []
    if counterexample.line is not None and not errors:
        found.append(f"line {counterexample.line}")
    return found


def _word(item: Evidence) -> str:
    return faint("not here") if item.skipped else _COLOURS[item.verdict](item.verdict.value)


def _remark(item: Evidence) -> str:
    return item.reason or (item.counterexample.kind if item.counterexample else "")


def _seconds(item: Evidence) -> str:
    return "" if item.seconds is None else faint(f"{item.seconds:.2f} s")
