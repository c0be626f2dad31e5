"""Why a kernel is wrong, in at most 35 words, by rule where there is one."""

from __future__ import annotations

import re
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from warpwright import languages
from warpwright.core.records.evidence import Counterexample, Evidence, Verdict
from warpwright.propose.prompting.issue import (
    MOST_WORDS,
    circumstances,
    critical_issue,
    other_errors,
    remedies,
    remedy,
    report,
)

ROOT = Path(__file__).parents[3]
CUDA = languages.named("cuda")
SOURCE = "int a;\n  s[i] = v;  \nint b;\n"


def wrong(message: str, kind: str = "race", **more: object) -> Evidence:
    found = Counterexample(kind=kind, message=message, **more)  # type: ignore[arg-type]
    return Evidence(candidate="c", rung="emulate", verdict=Verdict.REFUTED, counterexample=found)


def test_the_line_is_quoted() -> None:
    assert critical_issue(wrong("barrier missing", line=2), SOURCE) == "Line 2 (`s[i] = v;`): barrier missing"


@pytest.mark.parametrize("line", [0, 4, 5, 999])
def test_a_line_that_is_not_there_is_only_numbered(line: int) -> None:
    assert critical_issue(wrong("barrier missing", line=line), SOURCE) == f"Line {line}: barrier missing"


def test_whole_clauses_are_kept_as_long_as_there_is_room() -> None:
    message = "12 of 30 elements wrong; worst at [3]: got 1, expected 2; " + "in rows " * 30
    assert critical_issue(wrong(message), SOURCE) == "12 of 30 elements wrong; worst at [3]: got 1, expected 2"


def test_what_no_rule_shortens_is_left_to_a_model() -> None:
    assert critical_issue(wrong("word " * 60), SOURCE) is None


def test_what_could_not_be_checked_is_an_issue_too() -> None:
    unsure = Evidence(candidate="c", rung="seal", verdict=Verdict.UNDECIDED, reason="unsupported: at::foo")
    assert critical_issue(unsure, SOURCE) == "unsupported: at::foo"
    assert "not available" in remedy(unsure, CUDA)
    assert report(unsure) == "unsupported: at::foo"


@given(st.text(), st.none() | st.integers(-3, 9), st.text())
def test_an_issue_is_one_short_line_or_none(message: str, line: int | None, source: str) -> None:
    issue = critical_issue(wrong(message, line=line), source)
    assert issue is None or ("\n" not in issue and 0 < len(issue.split()) <= MOST_WORDS)


def test_circumstances_say_when_it_shows() -> None:
    facts = {
        "dims": {"B": 1, "C": 3},
        "distribution": "huge",
        "order": "reverse",
        "shifted": True,
        "result": "off",
    }
    found = circumstances(wrong("m", case="B1-C3-fp32", facts=facts))
    assert found == (
        "Seen in case B1-C3-fp32 by an emulator of the GPU, B=1 C=3, inputs `huge`, threads in reverse order, "
        "tensors that start one element beyond an aligned address. Its result: off."
    )
    assert circumstances(wrong("m")) == ""


def test_all_errors_of_a_compiler_are_reported() -> None:
    errors = [{"line": 3, "message": "expected ;"}, {"line": 9, "message": "x is undefined"}]
    assert report(wrong("expected ;", facts={"errors": errors})).endswith("line 9: x is undefined")


def test_remedies_are_short_and_fit_what_is_reported() -> None:
    assert all(len(text.split()) <= MOST_WORDS for text in remedies(CUDA).values())
    assert remedy(wrong("m", "race"), CUDA).startswith("put a barrier")
    assert remedy(wrong("m", "never heard of"), CUDA)


def test_every_kind_the_emulator_reports_has_a_remedy() -> None:
    contract = (ROOT / "src/warpwright/emulate/runtime/contract.md").read_text()
    listed = re.search(r"KIND  (out-of-bounds.*?no-device-work)", contract, re.DOTALL)
    assert listed
    assert set(listed[1].split()) <= remedies(CUDA).keys()


def test_every_kind_the_seal_refutes_with_has_a_remedy() -> None:
    texts = [path.read_text() for path in (ROOT / "src/warpwright/seal").rglob("*.py")]
    kinds = {kind for text in texts for kind in re.findall(r'\brefuted\(\s*"([a-z-]+)"', text)}
    kinds |= {kind for text in texts for kind in re.findall(r'yield\s*\(?\s*"([a-z-]+)",\s+f?"', text)}
    assert {"compile", "returns", "block", "shared-memory"} <= kinds
    assert kinds - {"trace", "source-size"} <= remedies(CUDA).keys()


def test_every_kind_the_oracle_reports_has_a_remedy() -> None:
    texts = [path.read_text() for path in (ROOT / "src/warpwright/oracle/compare").glob("*.py")]
    kinds = {kind for text in texts for kind in re.findall(r'(?:_element_wise|_mismatch)\(expected, "([a-z ]+)"', text)}
    assert {"shape", "typical error", "selected value"} <= kinds
    assert kinds <= remedies(CUDA).keys()


def test_all_compile_errors_are_told_at_once_each_with_its_line_and_once() -> None:
    errors = [{"line": 2, "message": "v is undefined"}, {"line": 3, "message": "expected a ;"}]
    found = wrong("v is undefined", kind="compile", line=2, facts={"errors": [*errors, errors[1]]})
    assert list(other_errors(found, SOURCE)) == ["Line 3 (`int b;`): expected a ;"]
    many = [{"line": 1, "message": f"error {number}"} for number in range(20)]
    assert len(list(other_errors(wrong("error 0", facts={"errors": many}), SOURCE))) == 4
