"""Renders prompts: Markdown with named fields, `{{field}}`. Rendering is strict; templates contain no logic.

A missing or unused field is a bug of ours and an error. Values are inserted unchanged: text that looks like a field
inside a value stays text. An empty field alone on its line is removed with the line; if it is a whole paragraph, the
blank line after it is removed too.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from functools import cache
from pathlib import Path

from warpwright.languages import Frontend

FOLDER = Path(__file__).resolve().parent / "prompts"
_FIELD = re.compile(r"(?P<alone>^\{\{(?P<block>\w+)\}\}\n\n?)|\{\{(?P<inline>\w+)\}\}", re.MULTILINE)


class TemplateError(ValueError):
    """A template and its fields do not match."""


def render(name: str, fields: Mapping[str, str] | None = None, language: Frontend | None = None) -> str:
    """The template of that name with its fields filled in: the language's own template, or else the shared one."""
    if language is None:
        return fill(text_of(name), fields or {}, name)
    own = language.prompt_file(f"{name}.md")
    return fill(text_of(name) if own is None else own, fields or {}, name, language.words.fields)


def fill(
    text: str, fields: Mapping[str, str], name: str = "the template", words: Mapping[str, str] | None = None
) -> str:
    """The text with its fields filled in. `words` are values that a template need not use."""
    wanted = {match["block"] or match["inline"] for match in _FIELD.finditer(text)}
    values = {**(words or {}), **fields}
    if missing := sorted(wanted - values.keys()):
        raise TemplateError(f"{name} needs a value for '{missing[0]}'")
    if unused := sorted(fields.keys() - wanted):
        raise TemplateError(f"{name} has no field '{unused[0]}'")
    return _FIELD.sub(lambda match: _value(match, values), text).strip() + "\n"


def _value(match: re.Match[str], fields: Mapping[str, str]) -> str:
    if match["alone"] is None:
        return fields[match["inline"]]
    value = fields[match["block"]].strip("\n")
    ending = match["alone"][match["alone"].index("}}") + 2 :]
    if value:
        return value + ending
    before = match.string[: match.start()]
    return "" if not before or before.endswith("\n\n") else ending[1:]


@cache
def text_of(name: str) -> str:
    return (FOLDER / f"{name}.md").read_text(encoding="utf-8")
