"""Prices: the user's own take precedence, unknown ones are None, and a ceiling is an upper bound."""

from __future__ import annotations

import pytest
from hypothesis import assume, given
from hypothesis import strategies as st

from warpwright.core.errors import UsageError
from warpwright.core.protocols import Request
from warpwright.models.spending.prices import Prices, Rate, load_prices, most_tokens

LOCAL = "openai:qwen@http://127.0.0.1:8000/v1"
OURS = Rate(model="openai:qwen@*", input=1.0, cached_input=0.25, output=4.0, as_of="2026-11-01", source="our machine")
PUBLISHED = ["anthropic:claude-opus-5", "openai:gpt-5", "openai:gpt-5.6-sol", "google:gemini-2.5-pro"]
tokens = st.integers(0, 2_000_000)


def test_the_users_own_price_counts():
    usage = {"input": 1_000_000, "cached": 400_000, "output": 500_000, "reasoning": 100_000}
    assert Prices(rates=(OURS,)).cost(LOCAL, usage) == pytest.approx(0.6 + 0.1 + 2.0)


def test_the_users_price_precedes_the_published_one_and_the_first_match_counts():
    rates = (Rate(model="openai:gpt-5", input=0, output=0), Rate(model="openai:*", input=9, output=9))
    prices = Prices(rates=rates)
    assert prices.cost("openai:gpt-5", {"input": 10, "output": 10}) == 0.0
    assert prices.cost("openai:gpt-5-mini", {"input": 1_000_000, "output": 0}) == 9.0


@pytest.mark.parametrize("model", PUBLISHED)
def test_published_prices_are_found_and_cached_input_is_cheaper(model):
    prices = Prices()
    full = prices.cost(model, {"input": 10_000, "output": 100})
    cached = prices.cost(model, {"input": 10_000, "cached": 9_000, "output": 100})
    assert full is not None
    assert cached is not None
    assert 0 < cached < full
    assert "genai-prices" in prices.source(model)


@pytest.mark.parametrize(
    "model",
    [
        LOCAL,
        "openai:gpt-5@http://127.0.0.1:8000/v1",
        "openai:no-such-model",
        "google:gemma-3-27b-it",
        "command:agent",
        "mailbox:letters",
        "nonsense",
    ],
)
def test_an_unknown_price_is_none_never_zero(model):
    prices = Prices()
    assert prices.cost(model, {"input": 1000, "output": 1000}) is None
    assert prices.ceiling(model, 1000, 1000) is None
    assert prices.source(model) is None


@pytest.mark.parametrize("usage", [{}, {"input": 5}, {"output": 5}, {"input": 5, "cached": 6, "output": 1}])
def test_missing_or_inconsistent_usage_has_no_price(usage):
    assert Prices(rates=(OURS,)).cost(LOCAL, usage) is None
    assert Prices().cost("openai:gpt-5", usage) is None


def test_without_a_largest_length_there_is_no_ceiling():
    assert Prices().ceiling("openai:gpt-5", 1000, None) is None


@given(st.sampled_from([*PUBLISHED, LOCAL]), tokens, tokens, st.data())
def test_no_call_costs_more_than_its_ceiling(model, prompt, longest, data):
    prices = Prices(rates=(OURS,))
    ceiling = prices.ceiling(model, prompt, longest)
    used = data.draw(st.integers(0, prompt))
    kind = data.draw(st.sampled_from(["cached", "cache_written"]))
    usage = {"input": used, "output": data.draw(st.integers(0, longest)), kind: data.draw(st.integers(0, used))}
    cost = prices.cost(model, usage)
    assume(cost is not None)
    assert cost <= ceiling + 1e-9


@given(st.text(), st.none() | st.dictionaries(st.text(), st.text()))
def test_the_bound_on_tokens_covers_every_byte(prompt, schema):
    counted = most_tokens(Request(prompt=prompt, purpose="p", schema=schema))
    assert counted > len(prompt.encode())


def test_the_users_file_is_found_by_variable_or_default_path(tmp_path):
    file = tmp_path / "warpwright" / "prices.toml"
    file.parent.mkdir()
    file.write_text(
        '[[price]]\nmodel = "openai:qwen@*"\ninput = 1\ncached_input = 0.25\noutput = 4\n'
        'as_of = 2026-11-01\nsource = "our machine"\n'
    )
    assert load_prices({"WARPWRIGHT_PRICES": str(file)}) == Prices(rates=(OURS,))
    assert load_prices({"XDG_CONFIG_HOME": str(tmp_path)}) == Prices(rates=(OURS,))
    assert Prices(rates=(OURS,)).source(LOCAL) == "our machine, as of 2026-11-01"
    assert load_prices({"XDG_CONFIG_HOME": str(tmp_path / "empty")}) == Prices()


@pytest.mark.parametrize(
    ("text", "problem"),
    [
        ("price = 3", "[[price]]"),
        ("[[prices]]\nmodel = 'm'", "[[price]]"),
        ("[[price]]\nmodel = 'm'\ninput = 1", "output"),
        ("[[price]]\nmodel = 'm'\ninput = -1\noutput = 2", "no price"),
        ("[[price]]\nmodel = 'm'\ninput = nan\noutput = 2", "no price"),
        ("[[price]]\nmodel = 'm'\ninput = 'free'\noutput = 2", "expected float"),
        ("[[price]]\nmodel = 'm'\ninput = 1\noutput = 2\ncurrency = 'EUR'", "currency"),
        ("[[price]", "cannot be read"),
    ],
)
def test_a_file_that_cannot_be_used_is_named_with_its_problem(tmp_path, text, problem):
    file = tmp_path / "prices.toml"
    file.write_text(text)
    with pytest.raises(UsageError) as refused:
        load_prices({"WARPWRIGHT_PRICES": str(file)})
    assert problem in str(refused.value)
    assert str(file) in str(refused.value)


def test_a_named_file_must_exist(tmp_path):
    with pytest.raises(UsageError, match=r"gone\.toml"):
        load_prices({"WARPWRIGHT_PRICES": str(tmp_path / "gone.toml")})
