"""Templates: every field exactly once in both directions, values untouched, empty paragraphs gone."""

from __future__ import annotations

import re

import pytest
from hypothesis import given
from hypothesis import strategies as st

from warpwright import languages
from warpwright.propose.prompting.template import FOLDER, TemplateError, fill

OWN = languages.named("cuda").folder / "prompts"


def test_a_missing_field_is_an_error() -> None:
    with pytest.raises(TemplateError, match="needs a value for 'b'"):
        fill("{{a}} {{b}}", {"a": "1"})


def test_a_field_that_nobody_uses_is_an_error() -> None:
    with pytest.raises(TemplateError, match="has no field 'c'"):
        fill("{{a}}", {"a": "1", "c": "2"})


def test_what_looks_like_a_field_in_a_value_stays_text() -> None:
    assert fill("{{a}}-{{b}}", {"a": "{{b}}", "b": "{{a}}"}) == "{{b}}-{{a}}\n"


@pytest.mark.parametrize(
    ("text", "rendered"),
    [
        ("one\n\n{{a}}\n\ntwo\n", "one\n\ntwo\n"),
        ("one\n{{a}}\n\ntwo\n", "one\n\ntwo\n"),
        ("one\n{{a}}\ntwo\n", "one\ntwo\n"),
        ("{{a}}\n\ntwo\n", "two\n"),
        ("one {{a}} two\n", "one  two\n"),
    ],
)
def test_an_empty_field_leaves_no_hole(text: str, rendered: str) -> None:
    assert fill(text, {"a": ""}) == rendered


@given(st.text(st.characters(codec="utf-8", exclude_characters="\n"), min_size=1).filter(str.strip))
def test_a_value_arrives_as_it_is(value: str) -> None:
    assert fill("begin\n{{a}}\nend", {"a": value}) == f"begin\n{value}\nend\n"


def test_single_braces_are_code() -> None:
    assert fill("m.def(); { {{a}} }", {"a": "x"}) == "m.def(); { x }\n"


@pytest.mark.parametrize("path", sorted([*FOLDER.glob("*.md"), *OWN.glob("*.md")]), ids=lambda path: path.stem)
def test_templates_hold_nothing_but_text_and_fields(path: object) -> None:
    text = path.read_text(encoding="utf-8")  # type: ignore[attr-defined]
    assert not re.search(r"\{%|\{\{\s|\{\{[^}]*[^\w}]", text)
    assert text.endswith("\n")
