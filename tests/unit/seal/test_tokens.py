"""The tokenizer loses nothing, whatever the text, and is never fooled by strings and comments."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from warpwright.cpp.tokens import Code, Kind, Token, tokenize

_PIECES = st.sampled_from(
    [
        "<<<",
        ">>>",
        "k",
        "__global__",
        '"',
        "'",
        'R"x(',
        ')x"',
        "//",
        "/*",
        "*/",
        "\n",
        "\\",
        "#",
        " ",
        "(",
        "}",
        "1'0",
        "é",
    ]
)


def meaningful(text: str) -> list[str]:
    return [token.text for token in tokenize(text) if token.kind not in (Kind.SPACE, Kind.DIRECTIVE)]


@given(st.text())
def test_any_text_survives(text: str) -> None:
    assert "".join(token.text for token in tokenize(text)) == text


@given(st.lists(_PIECES).map("".join))
def test_any_mixture_of_awkward_pieces_survives(text: str) -> None:
    assert "".join(token.text for token in tokenize(text)) == text


@given(st.lists(_PIECES).map("".join))
def test_brackets_are_paired_both_ways(text: str) -> None:
    code = Code(tokenize(text))
    assert all(code.partner[partner] == position for position, partner in code.partner.items())


@pytest.mark.parametrize(
    "literal",
    [
        '"k<<<1, 2>>>(x)"',
        'R"(k<<<1, 2>>>(x) ")"',
        'u8R"ab(" )" )ab"',
        r'"a \" <<< b"',
        "'\"'",
        r"'\''",
        "L'<'",
    ],
)
def test_a_literal_is_one_token(literal: str) -> None:
    assert meaningful(f"f({literal});") == ["f", "(", literal, ")", ";"]


def test_comments_and_directives_carry_no_meaning() -> None:
    assert meaningful('# 1 "a.cu" 1\n// __global__\n/* <<<\n */ x\n#pragma unroll 4\ny') == ["x", "y"]


def test_digit_separators_are_no_quotes() -> None:
    assert meaningful("1'000'000 + 0x1'F") == ["1'000'000", "+", "0x1'F"]


def test_closing_angles_are_alone_and_arrows_are_not() -> None:
    assert meaningful("a<b<c>>::d->e") == ["a", "<", "b", "<", "c", ">", ">", "::", "d", "->", "e"]


def test_a_comparison_is_no_template_bracket() -> None:
    code = Code(tokenize("a < b; c > d"))
    assert code.past_angles(1) is None


def test_template_brackets_match_over_parentheses() -> None:
    code = Code(tokenize("k<(N > 2), A<B<C>>>"))
    assert (code.past_angles(1), code.before_angles(len(code) - 1)) == (len(code), 1)


def test_a_token_knows_its_kind() -> None:
    assert tokenize("x")[0] == Token(Kind.WORD, "x")
