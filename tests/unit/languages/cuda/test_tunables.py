"""Tunables: what a comment leaves open is found, set exactly, and nothing else of the source moves."""

from __future__ import annotations

import contextlib

import pytest
from hypothesis import given
from hypothesis import strategies as st

from warpwright.core.errors import UsageError
from warpwright.languages.cuda.tunables import settings, space, with_settings

KERNEL = """// tune: BLOCK = 64, 128, 256
// tune: UNROLL = 1,2,4
#include <torch/extension.h>
#define BLOCK 128  // threads, see "// tune" above
static constexpr int UNROLL = 2, OTHER = 7;
// tune: ACC = float, double
using Sum = int;
#define ACC float
// tune: FAST = true, false
  static const bool FAST{false};
// tune: LEAK = 0.5f, 1e-3f, -2.0
const float LEAK = 0.5f;
__global__ void k(const float* x, int BLOCKS = 4) { int BLOCK_ = BLOCK; }
"""


def test_every_kind_of_value_and_of_setting_is_read() -> None:
    assert settings(KERNEL) == {"BLOCK": 128, "UNROLL": 2, "ACC": "float", "FAST": False, "LEAK": 0.5}
    assert space(KERNEL) == {
        "BLOCK": (64, 128, 256),
        "UNROLL": (1, 2, 4),
        "ACC": ("float", "double"),
        "FAST": (True, False),
        "LEAK": (0.5, 0.001, -2.0),
    }


def test_only_the_value_changes_and_it_is_spelt_as_in_the_comment() -> None:
    changed = with_settings(KERNEL, {"BLOCK": 256, "UNROLL": 4, "ACC": "double", "FAST": True, "LEAK": 0.001})
    expected = (
        KERNEL.replace("#define BLOCK 128  //", "#define BLOCK 256  //")
        .replace("UNROLL = 2,", "UNROLL = 4,")
        .replace("#define ACC float", "#define ACC double")
        .replace("FAST{false}", "FAST{true}")
        .replace("LEAK = 0.5f;", "LEAK = 1e-3f;")
    )
    assert changed == expected


def test_a_source_that_leaves_nothing_open_has_no_space() -> None:
    assert space('const char* s = "// tune: A = 1, 2";\nconstexpr int A = 1;') == {}


def test_a_comment_may_stand_at_the_end_of_the_line_that_sets_it() -> None:
    assert space("#define A 1  // tune: A = 1, 2\r\nconstexpr int B = 3; // tune: B = 3,4\r\n") == {
        "A": (1, 2),
        "B": (3, 4),
    }


def test_a_value_now_that_the_comment_does_not_name_is_kept_but_cannot_be_asked_for_elsewhere() -> None:
    source = "// tune: A = 1, 2\n#define A 3u\n"
    assert settings(source) == {"A": 3}
    assert with_settings(source, {"A": 3}) == source
    with pytest.raises(UsageError, match="A cannot be 4; one of 1, 2"):
        with_settings(source, {"A": 4})


def test_true_and_one_are_two_values() -> None:
    source = "// tune: A = true, 1\n#define A true\n"
    assert with_settings(source, {"A": 1}) == "// tune: A = true, 1\n#define A 1\n"
    assert with_settings(source, {"A": True}) == source


def test_several_declarators_and_brackets_do_not_hide_a_constant() -> None:
    source = "// tune: C = 1, 2\nconstexpr int A{3}, B = f(4), C = 1;"
    assert with_settings(source, {"C": 2}).endswith("B = f(4), C = 2;")


@pytest.mark.parametrize(
    ("source", "message"),
    [
        ("// tune: A 1, 2", "is not understood"),
        ("// tune: A = 1, 2", "the tunable A is never set"),
        ("// tune: A = 1, 2\nvoid f(const int A = 1);", "the tunable A is never set"),
        ("// tune: A = 1, 2\ntemplate <const int A = 1> void f();", "the tunable A is never set"),
        ("// tune: A = 1, 2\nint A = 1;", "the tunable A is never set"),
        ("// tune: A = 1, 2\n#define A(x) 1", "the tunable A is never set"),
        ("// tune: A = 1, 2\n#define A 1\n#define A 2", "set in 2 places"),
        ("// tune: A = 1, 2\n#define A (1 + 1)", "'\\(1 \\+ 1\\)', which is not a single literal or name"),
        ("// tune: A = 1, 2\nconstexpr int A = 1 + 1;", "'1 \\+ 1', which is not a single literal or name"),
        ("// tune: A = 1, 1\n#define A 1", "names the value 1 twice"),
        ("// tune: A = 1, b c\n#define A 1", "cannot be 'b c'"),
        ("// tune: A = 1,\n#define A 1", "cannot be ''"),
        ("// tune: A = 1\n// tune: A = 2\n#define A 1", "declared twice"),
    ],
)
def test_what_is_wrong_is_said_in_a_sentence(source: str, message: str) -> None:
    with pytest.raises(UsageError, match=message):
        space(source)


def test_a_name_that_is_no_tunable_is_refused() -> None:
    with pytest.raises(UsageError, match="B is not a tunable of this source; its tunables: A"):
        with_settings("// tune: A = 1, 2\n#define A 1", {"B": 1})


NAMES = st.from_regex(r"[A-Z][A-Z0-9_]{0,6}", fullmatch=True)
VALUES = st.one_of(
    st.integers(-(10**6), 10**6),
    st.floats(-1e6, 1e6, allow_nan=False).map(lambda value: value + 0.0),
    st.booleans(),
    st.from_regex(r"[a-z_][a-z0-9_]{0,6}", fullmatch=True).filter(lambda word: word not in ("true", "false")),
)
FORMS = (
    "#define {} {}",
    "constexpr auto {} = {};",
    "static const auto {}{{{}}};",
    "struct S{0} {{ static constexpr int {0} = {1}; }};",
)


def spelt(value: bool | int | float | str) -> str:
    return str(value).lower() if isinstance(value, bool) else str(value)


@st.composite
def sources(draw: st.DrawFn) -> tuple[str, dict[str, list[bool | int | float | str]]]:
    names = draw(st.lists(NAMES, min_size=1, max_size=4, unique=True))
    offered = {
        name: draw(st.lists(VALUES, min_size=1, max_size=4, unique_by=lambda value: (type(value), value)))
        for name in names
    }
    lines = [f"// tune: {name} = {', '.join(map(spelt, values))}" for name, values in offered.items()]
    lines += [draw(st.sampled_from(FORMS)).format(name, spelt(values[0])) for name, values in offered.items()]
    lines += draw(st.lists(st.sampled_from(["int x = 3;", "/* tune: no */", "#if 1", "#endif", ""]), max_size=3))
    return "\n".join(draw(st.permutations(lines))), offered


@given(sources(), st.data())
def test_any_setting_is_read_back_and_the_first_comes_back_exactly(
    made: tuple[str, dict[str, list[bool | int | float | str]]], data: st.DataObject
) -> None:
    source, offered = made
    first = settings(source)
    assert {name: tuple(values) for name, values in offered.items()} == space(source)
    wanted = {name: data.draw(st.sampled_from(values)) for name, values in offered.items()}
    changed = with_settings(source, wanted)
    assert settings(changed) == wanted
    assert [type(value) for value in settings(changed).values()] == [type(wanted[name]) for name in settings(changed)]
    assert space(changed) == space(source)
    assert with_settings(changed, first) == source


@given(st.text(alphabet="AB=1,{}();<>/ \n#\\\"'tune:define const", max_size=60))
def test_any_text_is_read_or_refused(text: str) -> None:
    source = f"// tune: A = 1, 2\n{text}"
    with contextlib.suppress(UsageError):
        assert with_settings(source, settings(source)) == source
