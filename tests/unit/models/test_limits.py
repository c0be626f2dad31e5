"""Limits: never more concurrent calls, calls per minute or dollars than allowed."""

from __future__ import annotations

import threading
from concurrent.futures import ThreadPoolExecutor

import pytest
from hypothesis import given
from hypothesis import strategies as st

from warpwright.core.errors import ModelFailed, UsageError
from warpwright.core.protocols import Reply
from warpwright.models.api.failures import AttemptFailed
from warpwright.models.spending.limits import DEFAULT_MAX_TOKENS, Budget, Limited, Metered


def costing(usd):
    return Reply(text="hello", model="parrot", cost_usd=usd)


def test_no_more_calls_at_once_than_allowed(parrot, ask):
    lock, both, state = threading.Lock(), threading.Barrier(2, timeout=30), {"now": 0, "most": 0}

    def work(_):
        with lock:
            state["now"] += 1
            state["most"] = max(state["most"], state["now"])
        both.wait()
        with lock:
            state["now"] -= 1
        return "done"

    model = Limited(parrot(*[work] * 8), at_once=2)
    with ThreadPoolExecutor(8) as pool:
        replies = list(pool.map(model.complete, [ask()] * 8))
    assert [reply.text for reply in replies] == ["done"] * 8
    assert state["most"] == 2


def test_a_failed_call_releases_its_place(parrot, ask):
    model = Limited(parrot(ModelFailed("server", "out of order"), "second"), at_once=1)
    with pytest.raises(ModelFailed):
        model.complete(ask())
    assert model.complete(ask()).text == "second"


def test_calls_beyond_the_minute_wait_for_their_turn(parrot, clock, ask):
    model = Limited(parrot(), per_minute=2, clock=clock)
    began = []
    for _ in range(5):
        model.complete(ask())
        began.append(clock.now() - 1000.0)
    assert began == [0, 0, 60, 60, 120]


@given(st.integers(1, 4), st.lists(st.floats(0, 50), min_size=1, max_size=20))
def test_no_minute_has_more_starts_than_allowed(most, pauses):
    class Hands:
        time = 0.0

        def now(self):
            return self.time

        def sleep(self, seconds):
            self.time += seconds

    class Quick:
        name = "quick"

        def complete(self, request):
            began.append(hands.now())

    hands, began = Hands(), []
    model = Limited(Quick(), per_minute=most, clock=hands)
    for pause in pauses:
        hands.sleep(pause)
        model.complete(None)
    for first, later in zip(began, began[most:], strict=False):
        assert later - first >= 60.0 - 1e-6


@pytest.mark.parametrize("limits", [{"at_once": 0}, {"per_minute": 0}, {"at_once": -1}])
def test_a_limit_of_zero_is_refused(parrot, limits):
    with pytest.raises(UsageError, match="at least 1"):
        Limited(parrot(), **limits)


def test_a_call_that_might_exceed_the_budget_is_not_sent(parrot, ask):
    model, budget = parrot(costing(0.4), ceiling=0.6), Budget(0.9)
    metered = Metered(model, budget=budget)
    metered.complete(ask())
    with pytest.raises(ModelFailed, match=r"\$0.90") as refused:
        metered.complete(ask())
    assert (refused.value.kind, refused.value.retryable, len(model.asked)) == ("budget", False, 1)
    assert (budget.spent_usd, budget.in_flight_usd) == (0.4, 0.0)


def test_money_in_flight_counts_and_models_share_the_budget(parrot, ask):
    budget, begun, finish = Budget(1.0), threading.Event(), threading.Event()

    def slowly(_):
        begun.set()
        finish.wait(30)
        return costing(0.1)

    slow = Metered(parrot(slowly, ceiling=0.7), budget=budget)
    other = Metered(parrot(costing(0.5), ceiling=0.5), budget=budget)
    with ThreadPoolExecutor(1) as pool:
        flying = pool.submit(slow.complete, ask())
        begun.wait(30)
        assert budget.in_flight_usd == 0.7
        with pytest.raises(ModelFailed) as refused:
            other.complete(ask())
        assert refused.value.retryable, "it fits as soon as the other call has settled for less"
        finish.set()
        flying.result()
    other.complete(ask())
    assert budget.spent_usd == 0.6


@pytest.mark.parametrize(
    ("failure", "spent"),
    [
        (AttemptFailed("rate", "slow down", cost_usd=0.0), 0.0),
        (AttemptFailed("truncated", "cut off", cost_usd=0.3), 0.3),
        (AttemptFailed("timeout", "too late", cost_usd=None), 0.5),
        (ModelFailed("server", "out of order"), 0.5),
        (ZeroDivisionError(), 0.5),
    ],
    ids=lambda value: getattr(value, "kind", None),
)
def test_a_failed_call_costs_its_known_price_or_its_upper_bound(parrot, ask, failure, spent):
    budget = Budget(1.0)
    with pytest.raises(type(failure)):
        Metered(parrot(failure, ceiling=0.5), budget=budget).complete(ask())
    assert (budget.spent_usd, budget.in_flight_usd) == (spent, 0.0)


def test_an_answer_without_a_price_counts_with_its_ceiling(parrot, ask):
    budget = Budget(1.0)
    Metered(parrot("hello", ceiling=0.25), budget=budget).complete(ask())
    assert (budget.spent_usd, budget.unpriced) == (0.25, 0)


def test_an_unknown_price_needs_the_users_permission(parrot, ask):
    unpriced, budget = parrot("hello", ceiling=None), Budget(0.0)
    with pytest.raises(UsageError, match="WARPWRIGHT_PRICES"):
        Metered(unpriced, budget=budget)
    assert Metered(unpriced, budget=budget, allow_unpriced=True).complete(ask()).text == "hello"
    assert (budget.spent_usd, budget.unpriced) == (0.0, 1)


def test_every_call_on_a_budget_has_a_largest_length(parrot, ask):
    model = parrot()
    metered = Metered(model, budget=Budget(1.0))
    metered.complete(ask())
    metered.complete(ask(max_tokens=7))
    assert [request.max_tokens for request in model.asked] == [DEFAULT_MAX_TOKENS, 7]


@pytest.mark.parametrize("usd", [-0.01, float("nan"), float("inf")])
def test_an_invalid_budget_is_refused(usd):
    with pytest.raises(UsageError, match="from 0 up"):
        Budget(usd)


@given(
    st.floats(0, 10),
    st.lists(st.tuples(st.floats(0, 5), st.floats(0, 1) | st.none(), st.booleans()), max_size=30),
)
def test_spent_and_reserved_money_never_exceed_the_budget(usd, calls):
    budget, flying = Budget(usd), []
    for ceiling, share, lands_first in calls:
        if lands_first and flying:
            budget.settle(*flying.pop())
        try:
            budget.hold(ceiling)
        except ModelFailed:
            continue
        flying.append((ceiling, None if share is None else ceiling * share))
        assert budget.spent_usd + budget.in_flight_usd <= usd + 2e-9
    for landing in flying:
        budget.settle(*landing)
    assert budget.in_flight_usd == 0
    assert budget.spent_usd <= usd + 2e-9


def test_a_budget_of_thirds_is_spent_completely(parrot, ask):
    metered = Metered(parrot(*[costing(0.1)] * 3, ceiling=0.1), budget=Budget(0.3))
    for _ in range(3):
        metered.complete(ask())
    with pytest.raises(ModelFailed, match="budget"):
        metered.complete(ask())
