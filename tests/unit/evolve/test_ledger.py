"""Budgets: what is spent, what is in flight, and what is not known."""

from warpwright.core.records.search import Action, Arm, Session
from warpwright.evolve.inputs import Ceiling, SearchInputs, Tunables
from warpwright.evolve.ledger import evaluations_left, remaining_budget, shortage
from warpwright.evolve.policy import Budget, Policy

SMALL, LARGE = Arm(model="small"), Arm(model="large", effort="high")
CEILINGS = {SMALL: Ceiling(usd=0.1, tokens=1000), LARGE: Ceiling(usd=1.0, tokens=9000)}


def policy(**budget):
    return Policy(arms=(SMALL, LARGE), budget=Budget(**budget))


def test_without_a_budget_nothing_runs_short(story):
    story.breed({}).call(0, 1e6)
    assert shortage(story.snapshot(), policy(), SearchInputs()) is None


def test_what_is_in_flight_is_as_good_as_spent(story):
    story.breed({"arm": LARGE}, {"arm": SMALL}).call(1, 0.25).answer(1)
    left = remaining_budget(story.snapshot(), policy(usd=1.5), SearchInputs(ceilings=CEILINGS))
    assert left.usd == 0.25
    assert left.within((SMALL, LARGE)) == (SMALL,)


def test_a_generation_stops_at_the_last_question_that_fits(story):
    story.breed({}).call(0, 0.25).right(0, 0.0).evaluate("k0")
    made = story.decision(policy(usd=0.56), SearchInputs(ceilings=CEILINGS))
    assert [brief.arm for brief in made.briefs] == [SMALL] * 3


def test_the_end_of_the_money_is_said_in_a_sentence(story):
    story.breed({}).call(0, 0.95).right(0, 0.0).evaluate("k0")
    made = story.decision(policy(usd=1.0), SearchInputs(ceilings=CEILINGS))
    assert (made.action, made.reason) == (
        Action.STOP,
        "0.95 of 1 USD are spent; another proposal may not fit.",
    )


def test_an_unknown_price_is_said_to_be_unknown(story):
    story.breed({}).call(0, 0.95).call(0, None).right(0, 0.0).evaluate("k0")
    reason = story.decision(policy(usd=1.0), SearchInputs(ceilings=CEILINGS)).reason
    assert reason.endswith("another proposal may not fit, and calls of unknown price (1) come on top.")


def test_without_a_ceiling_the_dearest_answer_so_far_is_expected(story):
    story.breed({"arm": SMALL}, {"arm": SMALL}).call(0, 0.2).call(1, 0.3).right(0, 0.0).right(1, 0.1)
    left = remaining_budget(story.snapshot(), policy(usd=0.75), SearchInputs())
    assert left.ceilings[SMALL].usd == 0.3
    assert left.ceilings[LARGE].usd is None


def test_tokens_run_out_too(story):
    story.breed({}).call(0, None).right(0, 0.0).evaluate("k0")
    assert story.decision(policy(tokens=200), SearchInputs(ceilings=CEILINGS)).reason == (
        "150 of 200 tokens are used; another proposal may not fit."
    )


def test_gpu_seconds_bound_the_evaluations(story):
    """As many as fit into what is left, each as long as the longest so far."""
    story.breed({}).answer(0).climb("k0").evaluate("k0").score("k0", 0.0, gpu_seconds=10.0)
    story.breed({}, {}, {}, generation=1).answer(1).answer(2).answer(3).climb("k1").climb("k2").climb("k3")
    made = story.decision(policy(gpu_seconds=35.0), SearchInputs())
    assert len(made.candidates) == 2
    assert evaluations_left(story.snapshot(), policy()) is None
    assert evaluations_left(story.snapshot(), policy(gpu_seconds=0.0)) == 0


def test_without_knowing_how_long_one_takes_one_is_tried(story):
    assert evaluations_left(story.snapshot(), policy(gpu_seconds=5.0)) == 1


def test_time_is_summed_over_sessions(story):
    story.breed({}).right(0, 0.0).evaluate("k0")
    story.records += [Session(seconds=40.0, reason="interrupted"), Session(seconds=30.0, reason="interrupted")]
    assert story.decision(policy(wall_seconds=60.0)).reason == "The 60 s allowed have passed."


def test_time_that_is_up_ends_even_what_waits(story):
    story.breed({}).answer(0).climb("k0")
    story.records.append(Session(seconds=61.0, reason="interrupted"))
    assert story.decision(policy(wall_seconds=60.0)).action is Action.STOP


def test_without_gpu_seconds_nothing_is_tuned(story):
    story.breed({}).answer(0).climb("k0").evaluate("k0").score("k0", 0.0, gpu_seconds=9.0)
    told = SearchInputs(tunables={"k0": Tunables(space={"N": (1, 2)}, genome={"N": 1})})
    assert story.decision(policy(gpu_seconds=20.0), told).action is Action.BREED
    assert story.decision(policy(gpu_seconds=10.0), told).action is Action.STOP


def test_what_waits_is_still_evaluated_when_the_money_is_gone(story):
    story.breed({}).call(0, 1.0).answer(0).climb("k0")
    assert story.decision(policy(usd=1.0), SearchInputs(ceilings=CEILINGS)).action is Action.EVALUATE
