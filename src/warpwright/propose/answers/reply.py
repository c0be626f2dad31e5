"""Extracts code from a model's answer: one whole file in a fenced block, or edits to a parent.

The requested form is one block that opens with ``` and the language's tag and closes with ```. Other forms are accepted
if they are unambiguous: another tag or none on the fence, `<file>` tags, several blocks of which one is a whole file, a
bare file without a fence. An ambiguous or truncated answer is Unreadable, with a sentence for its author. Half a file
is never returned.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass

from warpwright.languages import Frontend
from warpwright.propose.answers.edits import Unreadable, apply_edits, edits_in, has_edits

_OPENS = re.compile(r"(?P<indent>[ \t]*)(?P<fence>`{3,}|~{3,})[ \t]*(?P<info>[^`]*)")
_TAG_OPENS = re.compile(r"[ \t]*<file\b[^<>]*>[ \t]*")
_TAG_CLOSES = re.compile(r"[ \t]*</file>[ \t]*")
_THOUGHT = re.compile(r"\A\s*<think(?:ing)?>.*?</think(?:ing)?>", re.DOTALL)
_PIECE = r"(?:code|file|kernel|function|implementation|program)s?"
_STAYS = r"(?:(?:is|are|remains?|stays?) )?"
_ELIDED = re.compile(
    rf"^\W*(?:\.\.\.|…)\W*(?:the )?(?:rest|remaining {_PIECE}|unchanged|same as|existing|as before|omitted|previous)\b"
    rf"|\brest of (?:the |your |this )?{_PIECE}\b\W*{_STAYS}(?:unchanged|the same|as before|here|\W*$)"
    rf"|\b{_PIECE} {_STAYS}(?:unchanged|omitted|as before)\b"
    rf"|\b(?:unchanged|omitted)\W*(?:\.\.\.|…)",
    re.IGNORECASE,
)
_MOST_COMMENT = 200
"""The number of characters of a comment that are searched: comments in place of code are short."""


@dataclass(frozen=True, slots=True, kw_only=True)
class _Block:
    text: str
    tag: str
    closed: bool


def source_in(language: Frontend, answer: str, parent: str | None = None) -> str:
    """Extracts the source from an answer in that language; edits apply to `parent`."""
    text = _THOUGHT.sub("", answer.replace("\r\n", "\n"))
    if not text.strip():
        raise Unreadable("the answer is empty")
    if not has_edits(text):
        return _checked(language, _whole_file(language, text), parent or "")
    if parent is None:
        raise Unreadable(f"there is no kernel to edit here; give the whole file in one ```{language.words.fence} block")
    edits = edits_in(text)
    if any(language.exports(block.text) and not has_edits(block.text) for block in _blocks(text)):
        raise Unreadable("the answer has both a whole file and SEARCH/REPLACE blocks; give one or the other")
    return _checked(language, apply_edits(parent, edits), parent)


def _whole_file(language: Frontend, text: str) -> str:
    blocks = _blocks(text)
    if not all(block.closed for block in blocks):
        raise Unreadable("the code block is not closed, so the answer seems cut off; give the whole file again")
    files = list(dict.fromkeys(block.text for block in blocks if language.exports(block.text)))
    if len(files) == 1:
        return files[0]
    if files:
        raise Unreadable(f"the answer has {len(files)} different files that export entry points; give exactly one")
    if not blocks and _is_bare_file(language, text):
        return text.strip() + "\n"
    raise Unreadable(_what_is_missing(language, blocks))


def _what_is_missing(language: Frontend, blocks: Sequence[_Block]) -> str:
    found = (language.foreign(block.tag, block.text) for block in blocks)
    if other := next(filter(None, found), None):
        return f"the answer is {other}; give {language.words.file}"
    if blocks:
        return language.words.missing
    return f"the answer has no code block; give the whole file between ```{language.words.fence} and ```"


def _is_bare_file(language: Frontend, text: str) -> bool:
    """Whether the answer is a bare file: it starts like one and exports something."""
    return text.lstrip().startswith(language.words.openings) and language.exports(text)


def _blocks(text: str) -> list[_Block]:
    """The text between `<file>` tags, or else the fenced blocks. Takes linear time even for hostile text."""
    lines = text.split("\n")
    tagged = list(_tagged(lines))
    return tagged or list(_fenced(lines))


def _tagged(lines: Sequence[str]) -> Iterator[_Block]:
    inside: list[str] | None = None
    for line in lines:
        if inside is None:
            inside = [] if _TAG_OPENS.fullmatch(line) else None
        elif _TAG_CLOSES.fullmatch(line):
            yield _Block(text=_unfenced(inside), tag="", closed=True)
            inside = None
        else:
            inside.append(line)
    if inside is not None:
        yield _Block(text="\n".join(inside), tag="", closed=False)


def _unfenced(lines: Sequence[str]) -> str:
    """Drops a fence inside `<file>` tags."""
    inner = list(_fenced(lines))
    return inner[0].text if len(inner) == 1 and inner[0].closed else "\n".join(lines) + "\n"


def _fenced(lines: Sequence[str]) -> Iterator[_Block]:
    opening: re.Match[str] | None = None
    inside: list[str] = []
    for line in lines:
        again = _OPENS.fullmatch(line)
        if opening is None:
            opening, inside = again, []
        elif _closes(opening["fence"], line):
            yield _block(opening, inside, closed=True)
            opening = None
        elif again and again["info"].strip() and again["fence"] == opening["fence"]:
            yield _block(opening, inside, closed=False)
            opening, inside = again, []
        else:
            inside.append(line.removeprefix(opening["indent"]))
    if opening is not None:
        yield _block(opening, inside, closed=False)


def _closes(fence: str, line: str) -> bool:
    bare = line.strip()
    return len(bare) >= len(fence) and set(bare) == {fence[0]}


def _block(opening: re.Match[str], inside: list[str], *, closed: bool) -> _Block:
    tag = (opening["info"].split() or [""])[0].lower()
    return _Block(text="\n".join(inside) + "\n", tag=tag, closed=closed)


def _checked(language: Frontend, source: str, parent: str) -> str:
    """The source, if it is complete. Defects that the parent has already are allowed."""
    if elided := sorted(_elisions(language.comments(source)) - _elisions(language.comments(parent))):
        raise Unreadable(f"the comment '{elided[0].strip():.80}' replaces code; write all code out")
    if not language.is_whole(source) and (not parent or language.is_whole(parent)):
        raise Unreadable(language.words.unfinished)
    return source


def _elisions(comments: Iterable[str]) -> set[str]:
    """Comments that replace code, such as "rest unchanged"."""
    return {comment for comment in comments if _ELIDED.search(comment.lstrip("/*# ")[:_MOST_COMMENT])}
