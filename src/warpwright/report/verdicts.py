"""Verdicts in words: the sentence, the counterexample, and warnings."""

from __future__ import annotations

from collections.abc import Iterator

from warpwright.core.records.evidence import Counterexample, Dossier, Verdict
from warpwright.core.records.rungs import PROVE
from warpwright.seal.refusal import Refusal

_WHERE = ("distribution", "order", "kernel", "block", "thread", "other")


def sentence(dossier: Dossier) -> str:
    """Returns the verdict in one sentence."""
    found = dossier.refutation
    if found is not None and found.counterexample is not None:
        return f"Refuted: {found.counterexample.message}"
    if dossier.verdict is Verdict.HOLDS:
        return " ".join([_held(dossier), *_not_run(dossier)])
    if dossier.faults:
        return f"Undecided, by a fault of ours: {dossier.faults[0].where}: {dossier.faults[0].message}"
    reasons = [item.reason for item in dossier.evidence if item.reason and not item.skipped]
    return f"Undecided: {'; '.join(reasons)}" if reasons else "Undecided."


def _held(dossier: Dossier) -> str:
    """Returns that the candidate holds, and its failures at sizes that were not requested."""
    beyond = next((item.facts["beyond"] for item in dossier.evidence if item.facts.get("beyond")), None)
    if beyond is None:
        return f"Holds on every rung that this machine can climb.{_formula(dossier)}"
    where = " ".join(f"{name}={size}" for name, size in beyond["facts"].get("dims", {}).items())
    return f"Holds as asked; wrong for {where or beyond['case']}, which was not asked for: {beyond['message']}."


def _formula(dossier: Dossier) -> str:
    """Returns the grade of evidence beyond testing."""
    proof = next((item for item in dossier.evidence if item.rung == PROVE), None)
    if proof is None:
        return ""
    return " Its formula equals the reference's." if proof.verdict is Verdict.HOLDS else " Its formula is undecided."


def _not_run(dossier: Dossier) -> Iterator[str]:
    """Returns a sentence for each case that was asked for and that others stood for."""
    for item in dossier.evidence:
        for case, stand_ins in item.facts.get("not_run", {}).items():
            if stand_ins:
                is_sampled = case in item.facts.get("sampled", ())
                ran = "was run in a few blocks only" if is_sampled else "itself was not run"
                yield f"{case} {ran}; {', '.join(stand_ins)} stood for it."


def details(dossier: Dossier, source: str = "") -> list[str]:
    """Describes the counterexample: source line, case, block, thread."""
    found = dossier.refutation
    return counterexample_lines(found.counterexample, source) if found and found.counterexample else []


def warnings(dossier: Dossier) -> list[str]:
    """Returns the warnings of rungs, which do not count against the candidate."""
    return [str(warning) for item in dossier.evidence for warning in item.facts.get("warnings", ())]


def refusal_sentence(refusal: Refusal) -> str:
    """Returns in one sentence why a candidate was not sealed."""
    return refusal.counterexample.message if refusal.counterexample else (refusal.reason or "undecided")


def counterexample_lines(counterexample: Counterexample, source: str = "") -> list[str]:
    """Describes where a counterexample occurred, with a line for each place."""
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
