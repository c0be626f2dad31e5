"""Verdicts for people: the sentence first, then what shows it, then what to do next."""

from __future__ import annotations

from warpwright.cli.screen import bad, faint, good, plain, screen, show_table
from warpwright.core.records.evidence import Counterexample, Dossier, Evidence, Verdict
from warpwright.seal.refusal import Refusal

_COLOURS = {Verdict.HOLDS: good, Verdict.REFUTED: bad, Verdict.UNDECIDED: faint}
_WHERE = ("distribution", "order", "kernel", "block", "thread", "other")
_FEW_WARNINGS = 3


def sentence(dossier: Dossier) -> str:
    """The verdict in one sentence."""
    found = dossier.refutation
    if found is not None and found.counterexample is not None:
        return f"Refuted: {found.counterexample.message}"
    if dossier.verdict is Verdict.HOLDS:
        return "Holds on every rung that this machine can climb."
    if dossier.faults:
        return f"Undecided, by a fault of ours: {dossier.faults[0].where}: {dossier.faults[0].message}"
    reasons = [item.reason for item in dossier.evidence if item.reason and not item.skipped]
    return f"Undecided: {'; '.join(reasons)}" if reasons else "Undecided."


def details(dossier: Dossier, source: str = "") -> list[str]:
    """What shows a refutation: source line, case, block, thread."""
    found = dossier.refutation
    return _details(found.counterexample, source) if found and found.counterexample else []


def warnings(dossier: Dossier) -> list[str]:
    """What rungs noticed and did not hold against the candidate."""
    return [str(warning) for item in dossier.evidence for warning in item.facts.get("warnings", ())]


def show_dossier(dossier: Dossier, source: str = "", *, verbose: bool = False) -> None:
    """What every rung said."""
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


def sentence_of(refusal: Refusal) -> str:
    """Why it was not sealed, in one sentence."""
    return refusal.counterexample.message if refusal.counterexample else (refusal.reason or "undecided")


def show_refusal(verdict: Verdict, counterexample: Counterexample | None, reason: str | None) -> None:
    """Why not, with the line of source where there is one."""
    said = counterexample.message if counterexample else (reason or "")
    screen().print(f"{_COLOURS[verdict](verdict.capitalize())}: {plain(said)}")
    for line in _details(counterexample, "") if counterexample is not None else ():
        screen().print(f"  {plain(line)}")


def _details(counterexample: Counterexample, source: str) -> list[str]:
    found = [f"case {counterexample.case}"] if counterexample.case else []
    errors = counterexample.facts.get("errors") or []
    for error in errors[:3]:
        found.append(f"line {error['line']}: {error['text']}")
        found += [f"    {error['message']}"] if error["message"] != counterexample.message else []
    if counterexample.line is not None and not errors:
        found.append(_source_line(counterexample.line, source))
    shown = [f"{name} {counterexample.facts[name]}" for name in _WHERE if counterexample.facts.get(name) is not None]
    return [*found, ", ".join(shown)] if shown else found


def _source_line(number: int, source: str) -> str:
    lines = source.splitlines()
    return f"line {number}: {lines[number - 1].strip()}" if 0 < number <= len(lines) else f"line {number}"


def _word(item: Evidence) -> str:
    return faint("not here") if item.skipped else _COLOURS[item.verdict](item.verdict.value)


def _remark(item: Evidence) -> str:
    return item.reason or (item.counterexample.kind if item.counterexample else "")


def _seconds(item: Evidence) -> str:
    return "" if item.seconds is None else faint(f"{item.seconds:.2f} s")
