"""Results of checks as a page for a browser and as JUnit XML for a build server."""

from __future__ import annotations

import html
from collections.abc import Sequence
from xml.etree import ElementTree

from warpwright.app.kernels.check import Checked
from warpwright.core.records.evidence import Verdict

_STYLE = """body { font: 16px/1.5 system-ui, sans-serif; max-width: 60rem; margin: 2rem auto; padding: 0 1rem; }
.holds { color: #17692b; } .refuted { color: #a40e26; } .undecided { color: #6a5200; }
pre { background: #f4f4f4; padding: 0.6rem; overflow-x: auto; } mark { background: #ffd9d9; }"""
_AROUND = 3
"""Lines of source shown before and after the one that matters."""


def page(checked: Sequence[Checked]) -> str:
    """One section per kernel. Whatever a candidate could have written is escaped."""
    body = "\n".join(map(section, checked))
    head = f'<meta charset="utf-8"><title>Warpwright check</title><style>{_STYLE}</style>'
    title = "<h1>Warpwright check</h1>"
    return f'<!doctype html>\n<html lang="en"><head>{head}</head>\n<body>{title}\n{body}\n</body></html>\n'


def section(item: Checked) -> str:
    """One kernel: its verdict, the lines around the one that matters, and what shows it."""
    verdict = item.dossier.verdict
    title = f'<h2>{html.escape(item.name)}: <span class="{verdict}">{verdict}</span></h2>'
    lines = [*item.details, *(f"warning: {warning}" for warning in item.warnings)]
    notes = "".join(f"<li>{html.escape(line)}</li>" for line in lines)
    return f"<section>{title}<p>{html.escape(item.sentence)}</p>{_excerpt(item)}<ul>{notes}</ul></section>"


def _excerpt(item: Checked) -> str:
    found = item.dossier.refutation
    number = found.counterexample.line if found and found.counterexample else None
    lines = item.candidate.source.splitlines()
    if number is None or not 0 < number <= len(lines):
        return ""
    first = max(0, number - 1 - _AROUND)
    shown = enumerate(lines[first : number + _AROUND], start=first + 1)
    return f"<pre>{chr(10).join(_line(here, text, here == number) for here, text in shown)}</pre>"


def _line(number: int, text: str, marked: bool) -> str:
    shown = f"{number:5} {html.escape(text)}"
    return f"<mark>{shown}</mark>" if marked else shown


def junit_xml(checked: Sequence[Checked]) -> str:
    """A refuted kernel is a failure, an undecided one is skipped, a fault of ours is an error."""
    outcomes = [_outcome(item) for item in checked]
    counted = {"failures": outcomes.count("failure"), "errors": outcomes.count("error")}
    counted |= {"skipped": outcomes.count("skipped"), "tests": len(checked)}
    suite = ElementTree.Element("testsuite", {name: str(count) for name, count in counted.items()}, name="warpwright")
    for item, outcome in zip(checked, outcomes, strict=True):
        seconds = sum(evidence.seconds or 0.0 for evidence in item.dossier.evidence)
        shown = {"name": item.name, "classname": item.dossier.task, "time": f"{seconds:.3f}"}
        case = ElementTree.SubElement(suite, "testcase", {key: _printable(value) for key, value in shown.items()})
        if outcome is not None:
            said = ElementTree.SubElement(case, outcome, message=_printable(item.sentence))
            said.text = _printable("\n".join(item.details))
    return '<?xml version="1.0" encoding="utf-8"?>\n' + ElementTree.tostring(suite, encoding="unicode") + "\n"


def _outcome(item: Checked) -> str | None:
    if item.dossier.faults:
        return "error"
    return {Verdict.REFUTED: "failure", Verdict.UNDECIDED: "skipped"}.get(item.dossier.verdict)


def _printable(text: str) -> str:
    """XML has no form for most control characters, and none for half a surrogate pair."""
    return "".join(character if character.isprintable() or character in "\n\t" else "\ufffd" for character in text)
