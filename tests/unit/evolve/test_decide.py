"""Decisions are pure, name only what is known, stay within budgets, and are the same after a kill at any moment."""

import random
from dataclasses import replace

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from warpwright.core.errors import UsageError
from warpwright.core.records.search import Action, Arm, Basis, Decision, Fate, Operator, Run
from warpwright.evolve.decide import decide
from warpwright.evolve.fold import fold
from warpwright.evolve.inputs import SearchInputs
from warpwright.evolve.policy import Budget, Policy
from warpwright.evolve.seeds import seed_of
from warpwright.evolve.selection.population import population

ARMS = (Arm(model="small"), Arm(model="large", effort="high"))
RUN = Run(id="r", task="layernorm:forward", seed=7, started="2026-01-01T00:00:00Z", warpwright="0")

policies = st.builds(
    Policy,
    arms=st.sampled_from([ARMS, ARMS[:1], ()]),
    generations=st.integers(1, 3),
    proposals=st.integers(1, 5),
    evaluate=st.integers(1, 8),
    repairs=st.integers(0, 4),
    tunes=st.integers(0, 6),
    exploit=st.sampled_from([0.0, 0.5, 1.0]),
    crossover=st.sampled_from([0.0, 0.5]),
    rewrite=st.sampled_from([0.0, 0.5]),
    bandit=st.booleans(),
    budget=st.builds(
        Budget,
        usd=st.none() | st.floats(0.0, 1.0),
        tokens=st.none() | st.integers(0, 20_000),
        gpu_seconds=st.none() | st.floats(0.0, 100.0),
        wall_seconds=st.none() | st.floats(0.0, 30.0),
    ),
)


def decisions(records):
    return [record for record in records if isinstance(record, Decision)]


@settings(max_examples=12)
@given(seed=st.integers(0, 10_000), policy=policies, data=st.data())
def test_a_killed_run_goes_on_to_the_same_decisions(world, seed, policy, data):
    whole = world(seed, policy).play().records
    cut = data.draw(st.integers(0, len(whole)))
    assert world(seed, policy, records=whole[:cut]).play().records == whole


@settings(max_examples=12)
@given(seed=st.integers(0, 10_000), policy=policies)
def test_briefs_are_numbered_and_name_only_candidates_that_are_there(world, seed, policy):
    known, number = set(), 0
    for record in world(seed, policy).play().records:
        if isinstance(record, Decision):
            for brief in record.briefs:
                assert brief.number == number
                assert {*brief.parents, *brief.context} <= known
                assert brief.near_miss is None or brief.near_miss in known
                assert brief.arm is None or brief.arm in policy.arms
                number += 1
            assert set(record.candidates) <= known
        known.add(getattr(record, "candidate", None))


@settings(max_examples=20)
@given(seed=st.integers(0, 10_000), policy=policies)
def test_no_budget_is_exceeded_by_more_than_the_first_evaluation(world, seed, policy):
    """How long an evaluation takes is known after the first."""
    played = world(seed, policy).play()
    spent, budget = fold(RUN, played.records).spent, policy.budget
    assert budget.usd is None or spent.usd <= budget.usd
    assert budget.tokens is None or spent.tokens <= budget.tokens
    assert budget.gpu_seconds is None or spent.gpu_seconds <= budget.gpu_seconds + world.seconds_of_an_evaluation


@settings(max_examples=12)
@given(seed=st.integers(0, 10_000), policy=policies)
def test_a_run_ends_within_its_generations_and_every_decision_says_why(world, seed, policy):
    made = decisions(world(seed, policy).play().records)
    assert made[-1].action is Action.STOP
    assert made[-1].generation <= policy.generations
    for decision in made:
        assert decision.reason.endswith(".")
        assert decision.seed == seed_of(RUN.seed, decision.number)
        assert bool(decision.briefs) == (decision.action is Action.BREED)
        assert bool(decision.candidates) == (decision.action is Action.EVALUATE)


@settings(max_examples=30)
@given(seed=st.integers(0, 10_000), policy=policies)
def test_no_correct_candidate_is_left_untimed_while_the_budget_lasts(world, seed, policy):
    played = world(seed, replace(policy, enough=None, budget=Budget(usd=policy.budget.usd))).play()
    assert all(member.fate is not Fate.WAITING for member in fold(RUN, played.records).members)


@settings(max_examples=30)
@given(seed=st.integers(0, 10_000), policy=policies)
def test_a_correct_candidate_without_a_time_is_the_best_until_one_has_a_time(world, seed, policy):
    played = world(seed, policy, timeless=0.5).play()
    found = population(fold(RUN, played.records))
    assert found.best or not any(member.fate is Fate.UNSCORED for member in found.by_candidate.values())
    assert found.best is None or bool(found.best.score) == bool(found.scored)


def test_a_correct_candidate_without_a_time_is_improved_and_not_written_anew(story):
    story.breed({}).answer(0).climb("k0").evaluate("k0").judge("k0")
    made = story.decision()
    assert {brief.parents for brief in made.briefs} == {("k0",)}
    assert made.generation == 1


def test_predictions_leave_nothing_waiting(story):
    story.breed(*[{}] * 6)
    for number in range(6):
        story.answer(number).climb(f"k{number}")
    assert len(story.decision(Policy(arms=ARMS, evaluate=2)).candidates) == 2
    assert len(story.decision(Policy(arms=ARMS, evaluate=2), SearchInputs(predicts=True)).candidates) == 6


def test_another_seed_is_another_decision(story):
    snapshot = story.breed({}).right(0, 0.0).evaluate("k0").snapshot()
    policy, hints = Policy(arms=ARMS), SearchInputs(hints=tuple("abcdefgh"))
    assert decide(fold(RUN, story.records), policy, hints) == decide(snapshot, policy, hints)
    other = fold(Run(id="r", task="t", seed=8, started="", warpwright="0"), story.records)
    assert decide(other, policy, hints).briefs != decide(snapshot, policy, hints).briefs


def test_the_global_generator_is_left_alone(story):
    random.seed(3)
    before = random.getstate()
    story.breed({}).right(0, 0.0).evaluate("k0").decision()
    assert random.getstate() == before


def test_close_enough_to_the_limit_ends_the_run(story):
    story.breed({}).answer(0).climb("k0").evaluate("k0").score("k0", 0.4, share_of_limit=0.93)
    made = story.decision()
    assert (made.action, made.reason) == (Action.STOP, "The best candidate reaches 93% of the physical limit.")
    assert story.decision(Policy(arms=ARMS, enough=None)).action is Action.BREED


def test_a_share_that_is_no_number_ends_nothing(story):
    story.breed({}).answer(0).climb("k0").evaluate("k0").score("k0", 0.4, share_of_limit=float("nan"))
    assert story.decision().action is Action.BREED


def test_a_server_that_is_down_ends_the_session_and_a_resumed_run_tries_again(story):
    story.breed({}).right(0, 0.0).evaluate("k0").breed({}, {}, generation=1).fault(1).fault(2)
    stopped = story.decision()
    assert stopped.action is Action.STOP
    assert "resume" in stopped.reason
    story.records.append(stopped)
    assert story.decision().action is Action.BREED


def test_predicted_and_measured_scores_are_never_compared(story):
    story.breed({}, {}).answer(0).climb("k0").score("k0", 5.0, basis=Basis.PREDICTED).right(1, 0.1).evaluate("k0", "k1")
    made = story.decision(Policy(arms=ARMS, exploit=0.0, crossover=0.0))
    assert {brief.parents for brief in made.briefs} == {("k1",)}
    assert all(brief.context == () for brief in made.briefs)


@pytest.mark.parametrize(
    "setting", [{"proposals": 0}, {"rewrite": 1.5}, {"decay": float("nan")}, {"decay": 0.0}, {"temperatures": ()}]
)
def test_a_policy_that_makes_no_sense_is_refused(setting):
    with pytest.raises(UsageError):
        Policy(**setting)


def test_operators_that_need_no_model_name_none(world):
    made = decisions(world(3, Policy(generations=2)).play().records)
    free = {Operator.COMPOSE, Operator.TUNE, Operator.SPECIALISE}
    assert {brief.operator for decision in made for brief in decision.briefs} <= free
    assert all(brief.arm is None for decision in made for brief in decision.briefs)
