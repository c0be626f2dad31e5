"""SEARCH/REPLACE edits: where one applies, and what is said where it does not."""

from __future__ import annotations

import random

import pytest
from hypothesis import given
from hypothesis import strategies as st

from warpwright.propose.answers.edits import Unreadable, apply_edits, edits_in, has_edits

PARENT = """int a() {
    return 1;
}

int b() {
    return 2;
}
"""


def block(search: str, instead: str) -> str:
    return f"<<<<<<< SEARCH\n{search}\n=======\n{instead}\n>>>>>>> REPLACE\n"


def applied(text: str, parent: str = PARENT) -> str:
    return apply_edits(parent, edits_in(text))


def test_one_exact_match_is_replaced() -> None:
    assert applied(block("    return 2;", "    return 3;")) == PARENT.replace("2", "3")


def test_prose_and_fences_around_blocks_do_not_matter() -> None:
    text = f"First:\n```cpp\n{block('    return 2;', '    return 3;')}```\nDone."
    assert applied(text) == PARENT.replace("2", "3")


def test_lines_may_be_deleted() -> None:
    assert applied("<<<<<<< SEARCH\n    return 1;\n=======\n>>>>>>> REPLACE") == PARENT.replace("    return 1;\n", "")


@pytest.mark.parametrize(
    "search", ["    return 2;   ", "return 2;", "\t\treturn 2;", "\n    return 2;\n", "return 2;\r"]
)
def test_white_space_at_both_ends_is_forgiven(search: str) -> None:
    assert applied(block(search, "    return 3;")) == PARENT.replace("2", "3")


def test_an_exact_match_comes_before_a_forgiving_one() -> None:
    parent = "  x;\nx;\n"
    assert applied(block("x;", "y;"), parent) == "  x;\ny;\n"


def test_windows_line_ends_of_a_parent_match() -> None:
    assert applied(block("return 2;", "    return 3;"), PARENT.replace("\n", "\r\n")).count("return 3;") == 1


@pytest.mark.parametrize(
    ("text", "says"),
    [
        (block("}", "};"), r"block 1 matches 2 places \(lines 3, 7\)"),
        (block("    return 7;", ""), "block 1 is not in the kernel; the nearest lines are, from line"),
        (block("", "x"), "SEARCH part of block 1 is empty"),
        (block(" \n\t", "x"), "SEARCH part of block 1 is empty"),
        ("<<<<<<< SEARCH\na\n=======\nb\n", "block 1 has no line '>>>>>>> REPLACE'; the answer seems cut off"),
        ("<<<<<<< SEARCH\na\n" + block("b", "c"), "block 1 has no line '>>>>>>> REPLACE'"),
        ("<<<<<<< SEARCH\na\n>>>>>>> REPLACE\n", "block 1 has no line '======='"),
        ("a\n>>>>>>> REPLACE\n", "block 1 has no line '<<<<<<< SEARCH'"),
        ("<<<<<<< SEARCH\na\n=======\nb\n=======\nc\n>>>>>>> REPLACE\n", "block 1 has more than one line '======='"),
        (block("    return 2;", "x") + block("int b() {\n    return 2;", "y"), "blocks 2 and 1 change the same lines"),
        (block("    return 1;", "x") + block("    return 7;", "y"), "block 2 is not in the kernel"),
    ],
)
def test_what_cannot_be_applied_is_said_in_a_sentence(text: str, says: str) -> None:
    with pytest.raises(Unreadable, match=says):
        applied(text)


def test_the_nearest_lines_are_shown() -> None:
    with pytest.raises(Unreadable) as caught:
        applied(block("int b() {\n    return 22;", "x"))
    assert "from line 5:\nint b() {\n    return 2;" in str(caught.value)


LINES = st.lists(st.sampled_from(["a;", "  b;", "{", "}", "", "c();", "\td;"]), min_size=1, max_size=12)


@given(LINES, st.data())
def test_edits_do_what_they_say_whatever_their_order(lines: list[str], data: st.DataObject) -> None:
    """Unique lines of a parent, each replaced by a block of its own."""
    unique = [f"{line} // {number}" for number, line in enumerate(lines)]
    chosen = data.draw(st.sets(st.integers(0, len(unique) - 1), min_size=1))
    blocks = [block(unique[number], f"new {number}") for number in chosen]
    random.Random(0).shuffle(blocks)
    wanted = [f"new {number}" if number in chosen else line for number, line in enumerate(unique)]
    assert applied("".join(blocks), "\n".join(unique)) == "\n".join(wanted)


PIECES = ["<<<<<<< SEARCH", "=======", ">>>>>>> REPLACE", "a;", "  a;", "", "b;", "```", "<<<<<<<SEARCH", "x ======="]


@given(st.lists(st.sampled_from(PIECES), max_size=14), LINES)
def test_any_text_is_applied_or_unreadable(pieces: list[str], parent: list[str]) -> None:
    text, source = "\n".join(pieces), "\n".join(parent)
    try:
        result = applied(text, source)
    except Unreadable:
        return
    assert has_edits(text) or result == source
    assert "<<<<<<< SEARCH" not in result
