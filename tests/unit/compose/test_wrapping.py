"""Long lines: broken where they may be, and saying the same."""

from __future__ import annotations

from hypothesis import given
from hypothesis import strategies as st

from warpwright.compose.cuda.wrapping import WIDTH, wrapped

words = st.text("abcdefgh_", min_size=1, max_size=30)
pieces = st.recursive(
    words,
    lambda inner: st.one_of(
        st.tuples(inner, st.sampled_from(["+", "-", "*", "&&", "<"]), inner).map(" ".join),
        st.tuples(words, st.lists(inner, min_size=1, max_size=4)).map(lambda call: f"{call[0]}({', '.join(call[1])})"),
    ),
    max_leaves=25,
)


@given(pieces, st.integers(0, 5))
def test_nothing_is_lost_and_no_line_is_too_long(text: str, depth: int) -> None:
    line = f"{'    ' * depth}const float value = {text};"
    lines = list(wrapped([line]))
    assert " ".join(part.strip() for part in lines) == line.strip()
    assert all(len(part) <= WIDTH for part in lines)


def test_the_loosest_of_the_outermost_places_is_taken() -> None:
    pointers = ", ".join(["pointer.data_ptr()"] * 4)
    first, second = wrapped([f"const bool vectors = aligned({{{pointers}}}) && columns % VEC == 0 && rows > 0;"])
    assert first.endswith("pointer.data_ptr()})")
    assert second == "        && columns % VEC == 0 && rows > 0;"


def test_what_would_need_a_mark_of_its_own_is_left_alone() -> None:
    remark, directive = f"x = 1;  // {'word, ' * 30}", f"#define X {'word, ' * 30}"
    assert list(wrapped([remark, directive])) == [remark, directive]
