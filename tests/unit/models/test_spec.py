"""Specs: a valid one survives formatting, any other is refused in a sentence with its remedy."""

from __future__ import annotations

import contextlib

import pytest
from hypothesis import given
from hypothesis import strategies as st

from warpwright.core.errors import UsageError
from warpwright.models.spec import OTHERS, PROVIDERS, Spec, parse

names = st.text("abcxyz019.-_/:", min_size=1, max_size=20)
urls = st.builds(
    lambda scheme, host, port, path: f"{scheme}://{host}{port}{path}",
    st.sampled_from(["http", "https"]),
    st.sampled_from(["127.0.0.1", "localhost", "[::1]", "models.example.org"]),
    st.sampled_from(["", ":8000"]),
    st.sampled_from(["", "/v1", "/a/b"]),
)


@given(st.sampled_from(PROVIDERS), names, urls | st.none())
def test_a_providers_model_survives_the_round_trip(kind, name, url):
    spec = Spec(kind=kind, rest=name, url=url)
    assert parse(str(spec)) == spec


@given(st.sampled_from(OTHERS), st.text(min_size=1).filter(str.strip))
def test_commands_and_paths_are_taken_as_they_are(kind, rest):
    assert parse(f"{kind}:{rest}") == Spec(kind=kind, rest=rest)


@given(st.text().filter(lambda text: text.partition(":")[0] not in OTHERS + PROVIDERS))
def test_anything_else_is_a_usage_error_that_quotes_it(text):
    with pytest.raises(UsageError) as refused:
        parse(text)
    assert text.partition(":")[0] in str(refused.value)


@given(st.sampled_from(PROVIDERS), st.text(), st.text())
def test_any_text_after_a_provider_is_parsed_or_refused(kind, name, url):
    with contextlib.suppress(UsageError):
        assert str(parse(f"{kind}:{name}@{url}")).startswith(f"{kind}:{name.partition('@')[0]}")


def test_a_slash_after_the_address_does_not_make_another_model():
    assert parse("openai:m@http://h:1/v1/") == parse("openai:m@http://h:1/v1")


@pytest.mark.parametrize(
    ("text", "remedy"),
    [
        ("gpt-5", "openai:gpt-5"),
        ("claude-opus-5", "anthropic:claude-opus-5"),
        ("gemini-2.5-pro", "google:gemini-2.5-pro"),
        ("antropic:claude", "did you mean anthropic?"),
        ("zzz:m", "use one of anthropic, openai, google"),
        ("openai:", "openai:NAME"),
        ("openai:@http://h", "openai:NAME"),
        ("mailbox: ", "mailbox:DIR"),
        ("openai:m@127.0.0.1:8000", "does not begin with http"),
        ("openai:m@ftp://h", "does not begin with http"),
        ("openai:m@http://", "names no server"),
        ("openai:m@http://h:port", "cannot be read"),
        ("openai:m@http://h:99999", "cannot be read"),
        ("openai:m@http://[::1", "cannot be read"),
        ("openai:m@http://h /v1", "names no server"),
        ("openai:m@http://me:secret@h", "WARPWRIGHT_MODEL_KEY"),
        ("openai:m@http://h/v1?key=1", "more than a path"),
    ],
)
def test_the_sentence_holds_the_remedy(text, remedy):
    with pytest.raises(UsageError) as refused:
        parse(text)
    assert remedy in str(refused.value)
    assert "\n" not in str(refused.value)
