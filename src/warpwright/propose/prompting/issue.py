"""Describes why a kernel is wrong, as one critical issue of at most 35 words.

Evidence is nearly always structured: a kind, a line, a sentence. A rule then derives the issue from it. A model is
asked only if the rules cannot shorten the report.
"""

from __future__ import annotations

import tomllib
from collections.abc import Iterator, Mapping
from typing import Any

from warpwright.core.records.evidence import Counterexample, Evidence
from warpwright.core.records.rungs import EMULATE, JUDGE
from warpwright.languages import Frontend

MOST_WORDS = 35
_MOST_CODE = 100
_MOST_ERRORS = 5
_SEEN_BY = {EMULATE: " by an emulator of the GPU", JUDGE: " on the GPU"}
_OTHERWISE = "find the cause, and change nothing else."


def critical_issue(evidence: Evidence, source: str) -> str | None:
    """The issue by rule; None if the report is too long for one."""
    found = evidence.counterexample
    if found is None:
        return _shortened(evidence.reason or "", MOST_WORDS)
    place = _place(found, source)
    room = MOST_WORDS - len(place.split())
    message = _shortened(found.message, room)
    return message and place + message


def _shortened(message: str, most: int) -> str | None:
    """The leading clauses of a message that fit into `most` words; None if the first is too long."""
    kept = ""
    for clause in " ".join(message.split()).split("; "):
        longer = f"{kept}; {clause}" if kept else clause
        if len(longer.split()) > most:
            break
        kept = longer
    return kept or None


def _place(found: Counterexample, source: str) -> str:
    if found.line is None:
        return ""
    lines = source.split("\n")
    code = lines[found.line - 1].strip() if 0 < found.line <= len(lines) else ""
    shown = len(code) <= _MOST_CODE and len(code.split()) <= MOST_WORDS // 3
    return f"Line {found.line} (`{code}`): " if code and shown else f"Line {found.line}: "


def other_errors(evidence: Evidence, source: str) -> Iterator[str]:
    """Yields the compiler's other errors, each with its source line: they can often be fixed together."""
    found = evidence.counterexample
    listed = found.facts.get("errors", []) if found else []
    said = {found.message if found else ""}
    for item in listed if isinstance(listed, list) else []:
        message, line = str(item.get("message")), item.get("line")
        if message not in said and len(said) < _MOST_ERRORS:
            said.add(message)
            yield _place(Counterexample(kind="compile", message="", line=line), source) + message


def circumstances(evidence: Evidence) -> str:
    """States when the error occurs: case, sizes, inputs, order; empty if the evidence names no case."""
    found = evidence.counterexample
    if found is None or found.case is None:
        return ""
    facts = found.facts
    parts = [f"Seen in case {found.case}{_SEEN_BY.get(evidence.rung, '')}", _sizes(facts)]
    parts += [f"inputs `{facts['distribution']}`"] if facts.get("distribution") else []
    parts += [f"threads in {facts['order']} order"] if facts.get("order") not in (None, "forward") else []
    parts += ["tensors that start one element beyond an aligned address"] if facts.get("shifted") else []
    result = f" Its result: {facts['result']}." if facts.get("result") else ""
    return ", ".join(part for part in parts if part) + "." + result


def _sizes(facts: Mapping[str, Any]) -> str:
    dims = facts.get("dims")
    return " ".join(f"{name}={size}" for name, size in dims.items()) if isinstance(dims, Mapping) else ""


def remedy(evidence: Evidence, language: Frontend) -> str:
    """The usual fix for this kind of issue."""
    found = evidence.counterexample
    return remedies(language).get(found.kind if found else "undecided", _OTHERWISE)


def remedies(language: Frontend) -> dict[str, str]:
    """The usual fixes by kind of issue; empty for a language that brings none."""
    return tomllib.loads(language.prompt_file("remedies.toml") or "")


def report(evidence: Evidence) -> str:
    """The whole report, for a model to shorten."""
    found = evidence.counterexample
    if found is None:
        return evidence.reason or ""
    errors = found.facts.get("errors")
    more = [f"line {item.get('line')}: {item.get('message')}" for item in errors] if isinstance(errors, list) else []
    return "\n".join([found.message, *more])
