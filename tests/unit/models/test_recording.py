"""Recordings are replayed with the same answers and the same failures for the same requests."""

from __future__ import annotations

import json
from concurrent.futures import ThreadPoolExecutor

import pytest
from hypothesis import given
from hypothesis import strategies as st

from warpwright.core.codec import dumps, loads
from warpwright.core.errors import ModelFailed, OurFault, UsageError
from warpwright.core.protocols import Reply, Request
from warpwright.models.api.failures import AttemptFailed, Failure, earlier
from warpwright.models.api.retries import Retried
from warpwright.models.recordings.recording import Exchange, Recorded, identity
from warpwright.models.recordings.replay import Replay
from warpwright.models.scripted import Scripted
from warpwright.models.spending.limits import Budget, Metered

texts = st.text(max_size=20)
plain = st.recursive(
    st.none() | st.booleans() | st.integers() | texts,
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(texts, inner, max_size=3),
    max_leaves=5,
)
requests = st.builds(
    Request,
    prompt=st.text(),
    purpose=texts,
    temperature=st.none() | st.floats(0, 2),
    effort=st.none() | st.sampled_from(["low", "high"]),
    max_tokens=st.none() | st.integers(1, 10**6),
    schema=st.none() | st.dictionaries(texts, plain, max_size=3),
)
replies = st.builds(
    Reply,
    text=st.text(),
    model=texts,
    usage=st.dictionaries(st.sampled_from(["input", "output", "cached"]), st.integers(0, 10**9)),
    cost_usd=st.none() | st.floats(0, 100),
    parsed=plain,
    seconds=st.none() | st.floats(0, 1e4),
)


@given(requests, replies | st.builds(Failure, kind=texts, message=texts, retryable=st.booleans()))
def test_an_exchange_survives_the_file(request_, outcome):
    held = {"reply": outcome} if isinstance(outcome, Reply) else {"failure": outcome}
    exchange = Exchange(request=request_, **held)
    line = dumps(exchange)
    assert "\n" not in line
    assert loads(Exchange, line) == exchange


def test_an_exchange_has_either_a_reply_or_a_failure(ask):
    with pytest.raises(ValueError, match="either"):
        Exchange(request=ask())


def test_equal_requests_have_equal_identities(ask):
    same = [ask(), ask(max_tokens=5), ask(schema={"type": "object"})]
    others = [ask("other"), ask(purpose="repair"), ask(temperature=0.1), ask(effort="low")]
    assert len({identity(request) for request in same}) == 1
    assert len({identity(request) for request in [*same, *others]}) == 5


def test_a_recording_replays_in_order_with_its_failures(tmp_path, parrot, ask):
    file = tmp_path / "deep" / "record.jsonl"
    said = Reply(text="first", model="parrot", usage={"input": 3, "output": 4}, cost_usd=0.5, parsed={"a": [1]})
    model = Recorded(parrot(said, "second", ModelFailed("rate", "slow down", retryable=True), "other"), file)
    model.complete(ask())
    model.complete(ask())
    with pytest.raises(ModelFailed):
        model.complete(ask())
    model.complete(ask("another"))

    replay = Replay(file)
    assert replay.complete(ask("another")).text == "other"
    assert replay.complete(ask()) == said
    assert replay.complete(ask()).text == "second"
    with pytest.raises(ModelFailed, match="slow down") as failed:
        replay.complete(ask())
    assert (failed.value.kind, failed.value.retryable) == ("rate", True)


def test_an_unrecorded_request_has_no_answer(tmp_path, parrot, ask):
    file = tmp_path / "record.jsonl"
    Recorded(parrot("only once"), file).complete(ask())
    replay = Replay(file)
    replay.complete(ask())
    for request in (ask(), ask("never asked"), ask(temperature=1.0)):
        with pytest.raises(ModelFailed, match="no answer left") as failed:
            replay.complete(request)
        assert (failed.value.kind, failed.value.retryable) == ("unreachable", False)


def test_a_budget_ends_a_replay_where_it_ended_the_run(tmp_path, parrot, ask):
    file = tmp_path / "record.jsonl"
    recorded = Recorded(parrot(*[Reply(text="hello", model="m", cost_usd=0.4)] * 3), file)
    for _ in range(3):
        recorded.complete(ask())
    replayed = Metered(Replay(file), budget=Budget(1.0))
    assert [replayed.complete(ask()).cost_usd for _ in range(2)] == [0.4, 0.4]
    with pytest.raises(ModelFailed) as refused:
        replayed.complete(ask())
    assert refused.value.kind == "budget"


def test_threads_write_whole_lines(tmp_path, parrot, ask):
    file = tmp_path / "record.jsonl"
    models = [Recorded(parrot(*["long " * 5000] * 20), file) for _ in range(2)]
    with ThreadPoolExecutor(8) as pool:
        list(pool.map(lambda n: models[n % 2].complete(ask(f"q{n}")), range(40)))
    lines = file.read_text().splitlines()
    assert sorted(json.loads(line)["request"]["prompt"] for line in lines) == sorted(f"q{n}" for n in range(40))


@pytest.mark.parametrize("torn", ['{"request": {"prom', "x" * 200_000])
def test_an_incomplete_line_of_a_killed_process_is_ignored(tmp_path, parrot, ask, torn):
    file = tmp_path / "record.jsonl"
    Recorded(parrot("first"), file).complete(ask("one"))
    whole = file.read_text()
    file.write_text(whole + torn)
    assert Replay(file).complete(ask("one")).text == "first"
    Recorded(parrot("second"), file).complete(ask("two"))
    assert file.read_text().startswith(whole)
    replay = Replay(file)
    assert [replay.complete(ask(name)).text for name in ("one", "two")] == ["first", "second"]


@pytest.mark.parametrize(
    ("text", "said"),
    [("{}\n", "line 1"), ('\n\n{"request": 3}\n', "line 3"), ("nonsense\n", "not JSON"), ("\xff", "UTF-8")],
)
def test_a_file_that_is_no_recording_is_named_with_the_line(tmp_path, text, said):
    file = tmp_path / "record.jsonl"
    file.write_bytes(text.encode("latin-1"))
    with pytest.raises(UsageError, match=said):
        Replay(file)


def test_a_recording_needs_a_writable_path(tmp_path, parrot):
    (tmp_path / "file").write_text("")
    with pytest.raises(UsageError, match="nothing can be recorded"):
        Recorded(parrot(), tmp_path / "file" / "record.jsonl")
    with pytest.raises(UsageError, match="cannot be read"):
        Replay(tmp_path / "gone.jsonl")


def test_a_full_disk_is_our_fault(tmp_path, parrot, ask):
    model = Recorded(parrot(), tmp_path / "record.jsonl")
    (tmp_path / "record.jsonl").unlink()
    (tmp_path / "record.jsonl").symlink_to("/dev/full")
    with pytest.raises(OurFault, match="No space left"):
        model.complete(ask())


def script(tmp_path, *lines):
    file = tmp_path / "script.jsonl"
    file.write_text("\n".join(json.dumps(line) for line in lines))
    return Scripted(file)


def test_a_script_answers_in_order_and_by_what_the_prompt_holds(tmp_path, ask):
    model = script(tmp_path, {"text": "mended", "when": "repair"}, {"text": "first"}, {"text": "second"})
    assert [model.complete(ask(p)).text for p in ("write", "repair this", "write")] == ["first", "mended", "second"]
    with pytest.raises(ModelFailed, match="no line left") as failed:
        model.complete(ask())
    assert failed.value.kind == "unreachable"


def test_a_script_can_state_costs_return_data_and_fail(tmp_path, ask):
    lines = [
        {"text": "{}", "usage": {"input": 9, "output": 3}, "cost_usd": 0.5, "parsed": {"sure": True}},
        {"text": "{}", "parsed": {"sure": True}},
        {"text": "too many calls", "fails": "rate"},
    ]
    model = script(tmp_path, *lines)
    assert model.ceiling(ask()) == 0.5
    typed = model.complete(ask(schema={"type": "object"}))
    assert (typed.parsed, typed.cost_usd, typed.usage) == ({"sure": True}, 0.5, {"input": 9, "output": 3})
    untyped = model.complete(ask())
    assert (untyped.parsed, untyped.cost_usd) == (None, 0.0)
    with pytest.raises(ModelFailed, match="too many calls") as failed:
        model.complete(ask())
    assert failed.value.kind == "rate"


def test_a_script_with_a_wrong_word_is_refused(tmp_path):
    with pytest.raises(UsageError, match=r"line 2: .*txt"):
        script(tmp_path, {"text": "fine"}, {"txt": "not"})


def test_the_cost_of_failed_attempts_is_replayed(tmp_path, parrot, clock, ask):
    late = AttemptFailed("timeout", "too late", retryable=True)
    cut = AttemptFailed("truncated", "cut off", cost_usd=0.3, usage={"input": 5, "output": 9})
    file = tmp_path / "answers.jsonl"
    first = Recorded(Retried(parrot(late, "hello", late, cut), clock=clock, chance=lambda: 0.0), file)
    reply = first.complete(ask("a"))
    with pytest.raises(AttemptFailed):
        first.complete(ask("b"))
    again = Replay(file)
    assert again.complete(ask("a")) == reply
    assert [item.kind for item in earlier(reply)] == ["timeout"]
    with pytest.raises(AttemptFailed, match="cut off") as failed:
        again.complete(ask("b"))
    assert (failed.value.cost_usd, failed.value.usage) == (0.3, {"input": 5, "output": 9})
    assert [item.kind for item in failed.value.earlier] == ["timeout"]
