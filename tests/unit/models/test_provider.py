"""Compatible servers over loopback: answers, every kind of failure, and many threads at once."""

from __future__ import annotations

import asyncio
import threading
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import pytest

from warpwright.core.errors import ModelFailed
from warpwright.models.api.retries import Patience
from warpwright.models.named import Terms, model_named
from warpwright.models.spending.limits import Budget
from warpwright.models.spending.prices import Prices, Rate

PRICES = Prices(rates=(Rate(model="openai:*@http://127.0.0.1:*", input=1.0, cached_input=0.5, output=10.0),))
COST = (9 * 1.0 + 3 * 0.5 + 5 * 10.0) / 1e6
ONCE = Patience(attempts=1)
BARE = {"id": "c", "object": "chat.completion", "created": 1, "model": "m"}


@pytest.fixture
def model(server, clock):
    def named(environment=None, prices=PRICES, **terms):
        return model_named(
            server.spec(),
            folder=Path(),
            prices=prices,
            terms=Terms(**terms),
            clock=clock,
            environment=environment or {},
        )

    return named


def failure(model, request):
    with pytest.raises(ModelFailed) as failed:
        model.complete(request)
    assert "\n" not in str(failed.value)
    return failed.value


@pytest.mark.parametrize("stream", [False, True])
def test_an_answer_with_its_usage_and_cost(server, model, ask, stream):
    server.ok("a kernel")
    reply = model(stream=stream).complete(ask())
    assert reply.text == "a kernel"
    assert reply.usage == {"input": 12, "output": 5, "cached": 3, "reasoning": 2}
    assert reply.cost_usd == pytest.approx(COST)
    assert reply.model == server.spec()
    assert reply.seconds > 0
    assert server.requests[0].path == "/v1/chat/completions"
    assert server.requests[0].body["stream"] is stream


def test_settings_of_a_request_are_sent(server, model, ask):
    model().complete(ask("the prompt", temperature=0.7, effort="high", max_tokens=99))
    body = server.requests[0].body
    assert body["messages"] == [{"role": "user", "content": "the prompt"}]
    assert (body["model"], body["temperature"], body["reasoning_effort"], body["max_tokens"]) == (
        "test-model",
        0.7,
        "high",
        99,
    )


def test_unset_settings_are_not_sent(server, model, ask):
    model().complete(ask())
    assert server.requests[0].body.keys() == {"model", "messages", "stream"}


def test_a_schema_is_not_sent_to_a_compatible_server(server, model, ask):
    server.ok('{"sure": true}')
    reply = model().complete(ask(schema={"type": "object"}))
    assert (reply.text, reply.parsed) == ('{"sure": true}', None)
    assert "response_format" not in server.requests[0].body


def test_a_server_that_only_streams_is_streamed_from(server, model, ask):
    server.streamed("in pieces").streamed("in pieces")
    assert model(stream=True).complete(ask()).text == "in pieces"
    assert "only streams" in str(failure(model(stream=False), ask()))


def test_reasoning_is_not_part_of_the_answer(server, model, ask):
    server.ok("<think>hm, a race?</think>the kernel")
    assert model().complete(ask()).text.strip() == "the kernel"


def test_an_unknown_price_or_usage_is_none(server, model, ask):
    assert model(prices=Prices()).complete(ask()).cost_usd is None
    choice = {"index": 0, "finish_reason": "stop", "message": {"role": "assistant", "content": "hello"}}
    server.raw({**BARE, "choices": [choice]})
    reply = model().complete(ask())
    assert (reply.usage, reply.cost_usd) == ({}, None)


def test_a_providers_key_is_not_sent_to_another_server(server, model, ask):
    keys = {"OPENAI_API_KEY": "sk-openai", "WARPWRIGHT_MODEL_KEY": "local-key"}
    model(environment=keys).complete(ask())
    model(environment={"OPENAI_API_KEY": "sk-openai"}).complete(ask())
    first, second = (request.headers["authorization"] for request in server.requests)
    assert first == "Bearer local-key"
    assert "sk-openai" not in second


def test_a_rate_limit_is_waited_out_as_long_as_the_server_asks(server, model, clock, ask):
    server.rate_limited(retry_after="7").rate_limited().ok("at last")
    assert model().complete(ask()).text == "at last"
    assert 7.0 <= clock.slept[0] <= 8.0
    assert 1.0 <= clock.slept[1] <= 2.0
    assert len(server.requests) == 3, "the client library must not retry behind our back"


@pytest.mark.parametrize("behaviour", ["failing", "closed", "cut_off"])
@pytest.mark.parametrize("stream", [False, True])
def test_a_transient_server_error_is_retried(server, model, clock, ask, behaviour, stream):
    getattr(server, behaviour)().ok("up again")
    assert model(stream=stream).complete(ask()).text == "up again"
    assert (len(server.requests), len(clock.slept)) == (2, 1)


def test_a_missed_deadline_is_retried(server, model, ask):
    server.slow().ok("in time")
    # The second attempt must not meet a deadline that a busy machine cannot keep.
    assert model(deadline_s=5.0).complete(ask()).text == "in time"
    assert len(server.requests) == 2


@pytest.mark.parametrize(
    ("behave", "kind", "retryable", "said"),
    [
        (lambda s: s.rate_limited(), "rate", True, "slow down"),
        (lambda s: s.failing(), "server", True, "status 500: out of order"),
        (lambda s: s.failing(503, "overloaded"), "server", True, "overloaded"),
        (lambda s: s.failing(408), "timeout", True, "too long"),
        (lambda s: s.closed(), "unreachable", True, "cannot be reached"),
        (lambda s: s.cut_off(), "unreachable", True, "broke off"),
        (lambda s: s.failing(400, "bad temperature"), "server", False, "rejected the request: bad temperature"),
        (lambda s: s.failing(400, "maximum context length is 4"), "server", False, "maximum context length"),
        (lambda s: s.failing(400, "flagged", "content_filter"), "refused", False, "refused to answer: flagged"),
        (lambda s: s.failing(429, "pay first", "insufficient_quota"), "key", False, "no credit left"),
        (lambda s: s.failing(403, "not for you"), "key", False, "not for you"),
        (lambda s: s.wrong_key(), "key", False, "wants a key; set WARPWRIGHT_MODEL_KEY"),
        (lambda s: s.unknown_model(), "model", False, "no such model"),
        (lambda s: s.refusal("I will not."), "refused", False, "I will not."),
        (lambda s: s.filtered(), "refused", False, "refused"),
        (lambda s: s.length(), "truncated", False, "largest length"),
        (lambda s: s.truncated_json(), "malformed", False, "no answer"),
        (lambda s: s.raw({}), "malformed", False, "no answer"),
        (lambda s: s.raw([]), "malformed", False, "no answer"),
        (lambda s: s.raw({**BARE, "choices": []}), "malformed", False, "no answer"),
        (lambda s: s.raw(b"<html>welcome</html>"), "malformed", False, "no answer"),
        (lambda s: s.ok("  "), "malformed", False, "empty"),
    ],
)
def test_every_failure_has_its_kind_and_a_sentence(server, model, ask, behave, kind, retryable, said):
    behave(server)
    failed = failure(model(patience=ONCE), ask())
    assert (failed.kind, failed.retryable) == (kind, retryable)
    assert said in str(failed)
    assert str(failed).startswith(server.spec())


@pytest.mark.parametrize(
    ("behave", "kind"),
    [
        (lambda s: s.broken_stream(), "truncated"),
        (lambda s: s.length(), "truncated"),
        (lambda s: s.refusal(), "refused"),
        (lambda s: s.events([{"error": {"message": "overloaded", "code": 500}}]), "server"),
        (lambda s: s.events([]), "malformed"),
        (lambda s: s.rate_limited(), "rate"),
        (lambda s: s.raw({"no": "stream"}), "malformed"),
    ],
)
def test_failures_of_a_stream_have_their_kinds(server, model, ask, behave, kind):
    behave(server)
    assert failure(model(stream=True, patience=ONCE), ask()).kind == kind


def test_an_unreachable_server_is_retried(clock, ask, server):
    spec = server.spec().replace(server.address, "http://127.0.0.1:1")
    failed = failure(model_named(spec, folder=Path(), terms=Terms(patience=ONCE), environment={}), ask())
    assert (failed.kind, failed.retryable) == ("unreachable", True)
    assert "127.0.0.1:1" in str(failed)


def test_a_key_never_shows_in_a_failure(server, model, ask):
    server.failing(401, "the key local-secret is not known here")
    failed = failure(model(environment={"WARPWRIGHT_MODEL_KEY": "local-secret"}), ask())
    assert "local-secret" not in str(failed)
    assert "[key]" in str(failed)


def test_a_call_works_inside_a_running_event_loop(server, model, ask):
    async def notebook():
        return model().complete(ask())

    assert asyncio.run(notebook()).text == "hello"


def test_threads_share_nothing(server, model, ask):
    gate = threading.Barrier(6, timeout=120)

    def echo(body):
        gate.wait()
        return body["messages"][0]["content"].upper()

    for _ in range(6):
        server.ok(echo)
    asked = [ask(f"question {n}") for n in range(6)]
    with ThreadPoolExecutor(6) as pool:
        replies = list(pool.map(model().complete, asked))
    assert [reply.text for reply in replies] == [f"QUESTION {n}" for n in range(6)]
    assert server.at_once == 6


def test_the_limit_on_calls_at_once_holds_at_the_server(server, model, ask):
    with ThreadPoolExecutor(4) as pool:
        list(pool.map(model(at_once=1).complete, [ask()] * 4))
    assert (len(server.requests), server.at_once) == (4, 1)


def test_every_attempt_is_paid_for_and_the_budget_holds(server, model, ask):
    server.rate_limited().length().ok()
    budget = Budget(1.0)
    paid = model(budget=budget, max_tokens=1000)
    assert failure(paid, ask()).kind == "truncated"
    assert budget.spent_usd == pytest.approx(COST), "the rate limit was free, the answer that was cut off was not"
    paid.complete(ask())
    assert budget.spent_usd == pytest.approx(2 * COST)
    assert server.requests[0].body["max_tokens"] == 1000


def test_a_call_that_might_pass_the_budget_does_not_reach_the_server(server, model, ask):
    failed = failure(model(budget=Budget(0.0001)), ask())
    assert (failed.kind, server.requests) == ("budget", [])


def test_an_answer_that_never_ends_is_stopped_at_the_deadline(server, model, ask):
    server.dribbling()
    failed = failure(model(stream=True, deadline_s=0.5, patience=Patience(attempts=1)), ask())
    assert (failed.kind, failed.cost_usd) == ("timeout", None)
