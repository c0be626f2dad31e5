"""Retries: transient failures are retried within bounds; others are raised at once."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from warpwright.core.errors import ModelFailed
from warpwright.models.api.failures import AttemptFailed, earlier
from warpwright.models.api.retries import Patience, Retried


def passing(wait_s=None):
    return AttemptFailed("rate", "slow down", retryable=True, wait_s=wait_s)


def retried(model, clock, chance=0.0, **patience):
    return Retried(model, patience=Patience(**patience), clock=clock, chance=lambda: chance)


def test_a_transient_failure_is_retried(parrot, clock, ask):
    model = parrot(passing(), passing(), "at last")
    assert retried(model, clock).complete(ask()).text == "at last"
    assert len(model.asked) == 3


def test_waits_double_up_to_the_longest(parrot, clock, ask):
    model = parrot(*[passing() for _ in range(6)])
    retried(model, clock, chance=1.0, attempts=7, longest_wait_s=5.0).complete(ask())
    assert clock.slept == [1, 2, 4, 5, 5, 5]


def test_the_wait_is_at_least_what_the_server_requests(parrot, clock, ask):
    retried(parrot(passing(wait_s=17.0)), clock, chance=0.5).complete(ask())
    assert clock.slept == [17.5]


def test_attempts_are_bounded_and_the_last_failure_is_raised(parrot, clock, ask):
    model = parrot(*[passing() for _ in range(9)])
    with pytest.raises(ModelFailed, match="slow down") as failed:
        retried(model, clock, attempts=4).complete(ask())
    assert (failed.value.kind, failed.value.retryable, len(model.asked)) == ("rate", True, 4)


def test_no_wait_starts_that_would_exceed_the_total_time(parrot, clock, ask):
    model = parrot(passing(wait_s=300.0))
    with pytest.raises(ModelFailed):
        retried(model, clock, total_s=200.0).complete(ask())
    assert clock.slept == []


def test_a_permanent_failure_is_not_retried(parrot, clock, ask):
    model = parrot(ModelFailed("key", "no such key"))
    with pytest.raises(ModelFailed, match="no such key"):
        retried(model, clock).complete(ask())
    assert (len(model.asked), clock.slept) == (1, [])


@given(
    st.integers(1, 50),
    st.none() | st.floats(0, 1e4),
    st.floats(0, 1, exclude_max=True),
    st.floats(0.01, 10),
    st.floats(10, 100),
)
def test_a_wait_is_never_shorter_than_asked_nor_longer_than_the_longest(failed, asked_s, chance, first, longest):
    wait_s = Patience(first_wait_s=first, longest_wait_s=longest).wait_s(failed, asked_s, chance)
    if asked_s is None:
        assert first / 2 <= wait_s <= longest
    else:
        assert asked_s <= wait_s <= asked_s + first


def test_attempts_that_may_have_been_billed_come_with_the_answer(parrot, clock, ask):
    late = AttemptFailed("timeout", "too late", retryable=True)
    paid = AttemptFailed("server", "gave up", retryable=True, cost_usd=0.2, usage={"input": 7, "output": 1})
    free = AttemptFailed("rate", "slow down", retryable=True, cost_usd=0.0)
    reply = retried(parrot(late, free, paid, "at last"), clock).complete(ask())
    assert [(item.kind, item.cost_usd, dict(item.usage)) for item in earlier(reply)] == [
        ("timeout", None, {}),
        ("server", 0.2, {"input": 7, "output": 1}),
    ]
    assert reply.text == "at last"


def test_the_last_failure_includes_those_before_it(parrot, clock, ask):
    late = AttemptFailed("timeout", "too late", retryable=True)
    with pytest.raises(AttemptFailed) as failed:
        retried(parrot(late, AttemptFailed("refused", "no", cost_usd=0.1)), clock).complete(ask())
    assert [item.kind for item in earlier(failed.value)] == ["timeout"]


def test_an_answer_at_the_first_attempt_has_no_earlier_failures(parrot, clock, ask):
    assert earlier(retried(parrot("at once"), clock).complete(ask())) == ()
