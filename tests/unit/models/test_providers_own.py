"""The three providers' own protocols over loopback: requests, responses, and rate limits."""

from __future__ import annotations

import pytest

from warpwright.core.errors import ModelFailed
from warpwright.models.api.failures import AttemptFailed
from warpwright.models.api.provider import Provider, Wire
from warpwright.models.spending.prices import Prices

SCHEMA = {"type": "object", "properties": {"sure": {"type": "boolean"}}, "required": ["sure"]}
NAMES = {
    Wire.RESPONSES: "openai:gpt-5",
    Wire.ANTHROPIC: "anthropic:claude-opus-5",
    Wire.GOOGLE: "google:gemini-2.5-pro",
}
OWN = [Wire.RESPONSES, Wire.ANTHROPIC, Wire.GOOGLE]


def answered(wire, text, end=None):
    """A provider's answer in one piece with its finish reason."""
    if wire is Wire.RESPONSES:
        cut = {"status": "incomplete", "incomplete_details": {"reason": end}} if end else {"status": "completed"}
        said = {"type": "output_text", "text": text, "annotations": []}
        message = {"type": "message", "id": "m1", "status": "completed", "role": "assistant", "content": [said]}
        usage = {
            "input_tokens": 10,
            "input_tokens_details": {"cached_tokens": 4},
            "output_tokens": 6,
            "output_tokens_details": {"reasoning_tokens": 3},
            "total_tokens": 16,
        }
        frame = {"id": "r1", "object": "response", "created_at": 1, "model": "gpt-5", "parallel_tool_calls": True}
        return {**frame, **cut, "tool_choice": "auto", "tools": [], "output": [message], "usage": usage}
    if wire is Wire.ANTHROPIC:
        usage = {"input_tokens": 6, "cache_read_input_tokens": 4, "cache_creation_input_tokens": 0, "output_tokens": 6}
        frame = {"id": "m1", "type": "message", "role": "assistant", "model": "claude-opus-5", "stop_sequence": None}
        return {
            **frame,
            "content": [{"type": "text", "text": text}],
            "stop_reason": end or "end_turn",
            "usage": usage,
        }
    counts = {"promptTokenCount": 10, "cachedContentTokenCount": 4, "candidatesTokenCount": 3, "thoughtsTokenCount": 3}
    said = {"content": {"role": "model", "parts": [{"text": text}]}, "finishReason": end or "STOP", "index": 0}
    return {"candidates": [said], "usageMetadata": counts, "modelVersion": "gemini-2.5-pro"}


def streamed(wire, text):
    whole = answered(wire, text)
    if wire is Wire.RESPONSES:
        part = {"item_id": "m1", "output_index": 0, "content_index": 0}
        item = {**whole["output"][0], "content": []}
        return [
            {"type": "response.created", "sequence_number": 0, "response": {**whole, "output": []}},
            {"type": "response.output_item.added", "sequence_number": 1, "output_index": 0, "item": item},
            {"type": "response.output_text.delta", "sequence_number": 2, "delta": text, "logprobs": [], **part},
            {"type": "response.completed", "sequence_number": 3, "response": whole},
        ]
    if wire is Wire.ANTHROPIC:
        start = {**whole, "content": [], "stop_reason": None}
        return [
            {"type": "message_start", "message": start},
            {"type": "content_block_start", "index": 0, "content_block": {"type": "text", "text": ""}},
            {"type": "content_block_delta", "index": 0, "delta": {"type": "text_delta", "text": text}},
            {"type": "content_block_stop", "index": 0},
            {
                "type": "message_delta",
                "delta": {"stop_reason": "end_turn", "stop_sequence": None},
                "usage": whole["usage"],
            },
            {"type": "message_stop"},
        ]
    return [whole]


@pytest.fixture
def model(server):
    def provider(wire, name=None, **more):
        own = name or NAMES[wire]
        url = server.url if wire is Wire.RESPONSES else server.address
        return Provider(
            name=own,
            wire=wire,
            model=own.partition(":")[2],
            url=url,
            key="our-key",
            key_variable="THE_KEY",
            prices=Prices(),
            **more,
        )

    return provider


def failure(model, request):
    with pytest.raises(ModelFailed) as failed:
        model.complete(request)
    assert isinstance(failed.value, AttemptFailed)
    return failed.value


@pytest.mark.parametrize("wire", OWN)
def test_an_answer_in_one_piece(server, model, ask, wire):
    server.raw(answered(wire, "a kernel"))
    reply = model(wire).complete(ask(max_tokens=4000))
    assert (reply.text, reply.model) == ("a kernel", NAMES[wire])
    assert {"input": 10, "cached": 4, "output": 6}.items() <= reply.usage.items()
    assert reply.cost_usd == Prices().cost(NAMES[wire], {"input": 10, "cached": 4, "output": 6})
    assert reply.cost_usd > 0
    headers = server.requests[0].headers
    assert "our-key" in " ".join(headers.get(h, "") for h in ("authorization", "x-api-key", "x-goog-api-key"))


@pytest.mark.parametrize("wire", OWN)
def test_an_answer_in_pieces(server, model, ask, wire):
    server.events(streamed(wire, "a kernel"), done=False)
    reply = model(wire, stream=True).complete(ask(max_tokens=4000))
    assert reply.text == "a kernel"
    assert reply.usage["output"] == 6


@pytest.mark.parametrize("wire", OWN)
def test_a_stream_that_breaks_off_is_no_answer(server, model, ask, wire):
    events = streamed(wire, "half a ker")
    if wire is Wire.GOOGLE:
        del events[0]["candidates"][0]["finishReason"]
    server.events(events if wire is Wire.GOOGLE else events[:3], done=False)
    failed = failure(model(wire, stream=True), ask(max_tokens=4000))
    assert (failed.kind, failed.retryable) == ("truncated", False)


@pytest.mark.parametrize("wire", OWN)
def test_a_rate_limit_with_its_wait(server, model, ask, wire):
    body = {"type": "error", "error": {"type": "rate_limit_error", "message": "slow down", "code": 429}}
    if wire is Wire.GOOGLE:
        body = {"error": {"code": 429, "message": "slow down", "status": "RESOURCE_EXHAUSTED"}}
    server.raw(body, status=429, headers={"Retry-After": "9"})
    failed = failure(model(wire), ask(max_tokens=4000))
    assert (failed.kind, failed.retryable, failed.wait_s, failed.cost_usd) == ("rate", True, 9.0, 0.0)
    assert "slow down" in str(failed)
    assert len(server.requests) == 1, "the client library must not retry behind our back"


@pytest.mark.parametrize(
    ("wire", "end"),
    [(Wire.RESPONSES, "max_output_tokens"), (Wire.ANTHROPIC, "max_tokens"), (Wire.GOOGLE, "MAX_TOKENS")],
)
def test_a_truncated_answer_is_a_failure_with_its_cost(server, model, ask, wire, end):
    server.raw(answered(wire, "half a ker", end))
    failed = failure(model(wire), ask(max_tokens=4000))
    assert failed.kind == "truncated"
    assert failed.cost_usd > 0


@pytest.mark.parametrize(("wire", "end"), [(Wire.ANTHROPIC, "refusal"), (Wire.GOOGLE, "SAFETY")])
def test_a_refusal_is_a_failure(server, model, ask, wire, end):
    server.raw(answered(wire, "I will not.", end))
    assert failure(model(wire), ask(max_tokens=4000)).kind == "refused"


@pytest.mark.parametrize(
    ("wire", "status", "kind"), [(w, s, k) for w in OWN for s, k in ((401, "key"), (404, "model"), (500, "server"))]
)
def test_status_codes_have_the_same_meaning_for_every_provider(server, model, ask, wire, status, kind):
    server.raw({"error": {"message": "no", "code": status, "type": "error"}}, status=status)
    failed = failure(model(wire), ask(max_tokens=4000))
    assert (failed.kind, failed.retryable) == (kind, status == 500)
    assert "THE_KEY" in str(failed) or kind != "key"


@pytest.mark.parametrize("wire", OWN)
def test_a_schema_is_sent_to_providers_that_support_it(server, model, ask, wire):
    server.raw(answered(wire, '{"sure": true}')).raw(answered(wire, "not sure"))
    typed = model(wire).complete(ask(max_tokens=4000, schema=SCHEMA))
    assert typed.parsed == {"sure": True}
    assert '"sure"' in str(server.requests[0].body).replace("'", '"')
    assert model(wire).complete(ask(max_tokens=4000, schema=SCHEMA)).parsed is None


def test_effort_and_temperature_are_sent_to_models_that_accept_them(server, model, ask):
    wanted = {"effort": "high", "temperature": 0.5, "max_tokens": 4000}
    for wire in OWN:
        server.raw(answered(wire, "a kernel"))
        model(wire).complete(ask(**wanted))
    openai, anthropic, google = (request.body for request in server.requests)
    assert openai["reasoning"]["effort"] == "high"
    assert openai["store"] is False
    assert anthropic["output_config"] == {"effort": "high"}
    assert google["generationConfig"]["thinkingConfig"]["thinking_budget"] > 0
    assert google["generationConfig"]["temperature"] == 0.5
    assert "temperature" not in openai, "a model that thinks takes none, and would fail the request"
    assert "temperature" not in anthropic


def test_the_shared_part_of_a_prompt_is_marked_for_the_provider_s_cache(server, model, ask):
    server.raw(answered(Wire.ANTHROPIC, "a kernel"))
    model(Wire.ANTHROPIC).complete(ask("the function, then the question", shared=12, max_tokens=4000))
    first, rest = server.requests[0].body["messages"][0]["content"]
    assert (first["text"], rest["text"]) == ("the function", ", then the question")
    assert first["cache_control"]["type"] == "ephemeral"
    assert "cache_control" not in rest


def test_a_model_without_reasoning_accepts_a_temperature(server, model, ask):
    server.raw(answered(Wire.RESPONSES, "a kernel")).raw(answered(Wire.ANTHROPIC, "a kernel"))
    model(Wire.RESPONSES, "openai:gpt-4.1").complete(ask(temperature=1.5))
    model(Wire.ANTHROPIC, "anthropic:claude-haiku-4-5").complete(ask(temperature=1.5, max_tokens=4000))
    assert [request.body["temperature"] for request in server.requests] == [1.5, 1.0]


def test_an_unknown_effort_is_reported(server, model, ask):
    with pytest.raises(ModelFailed, match="use one of minimal") as failed:
        model(Wire.ANTHROPIC).complete(ask(effort="gigantic"))
    assert (failed.value.kind, server.requests) == ("model", [])


@pytest.mark.parametrize("wire", OWN)
def test_a_ceiling_is_above_the_cost_of_a_call(server, model, ask, wire):
    server.raw(answered(wire, "a kernel"))
    provider, request = model(wire), ask("x" * 40, max_tokens=4000)
    assert provider.complete(request).cost_usd < provider.ceiling(request)
    assert provider.ceiling(ask()) is None
