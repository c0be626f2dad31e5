"""Arms are chosen by what they gave for their price."""

from collections import Counter

from warpwright.core.records.search import Arm, Operator
from warpwright.evolve.policy import Policy
from warpwright.evolve.selection import bandit
from warpwright.evolve.selection.bandit import Record
from warpwright.evolve.selection.population import population

CHEAP, DEAR, NEW = Arm(model="cheap"), Arm(model="dear"), Arm(model="new", effort="high")
POLICY = Policy(curiosity=0.1, thrift=0.0)


def known(pulls=10.0, reward=1.0, price=None):
    return Record(pulls=pulls, reward=reward, price=price)


def records(story, operator=Operator.OPTIMISE, policy=POLICY):
    snapshot = story.snapshot()
    return bandit.records(operator, snapshot.members, population(snapshot), policy)


def test_an_arm_that_was_never_pulled_comes_first():
    assert bandit.pick((CHEAP, NEW, DEAR), {CHEAP: known(), DEAR: known()}, Counter(), POLICY) == NEW


def test_one_decision_spreads_over_new_arms():
    assert bandit.pick((CHEAP, NEW, DEAR), {CHEAP: known()}, Counter({NEW: 1}), POLICY) == DEAR


def test_more_reward_wins_and_many_open_questions_give_others_a_turn():
    found = {CHEAP: known(reward=5.0), DEAR: known(reward=4.0)}
    assert bandit.pick((CHEAP, DEAR), found, Counter(), POLICY) == CHEAP
    assert bandit.pick((CHEAP, DEAR), found, Counter({CHEAP: 500}), Policy(curiosity=2.0)) == DEAR


def test_price_decides_between_equals_as_far_as_thrift_goes():
    found = {CHEAP: known(reward=4.0, price=0.01), DEAR: known(reward=5.0, price=0.1)}
    assert bandit.pick((CHEAP, DEAR), found, Counter(), Policy(curiosity=0.1, thrift=0.0)) == DEAR
    assert bandit.pick((CHEAP, DEAR), found, Counter(), Policy(curiosity=0.1, thrift=1.0)) == CHEAP


def test_an_unknown_price_is_not_taken_for_nothing():
    found = {CHEAP: known(price=0.01), DEAR: known(price=0.1), NEW: known(reward=1.1)}
    assert bandit.pick((CHEAP, DEAR, NEW), found, Counter(), Policy(curiosity=0.1, thrift=1.0)) == CHEAP


def test_nobody_ever_gained_anything():
    assert bandit.pick((CHEAP, DEAR), {CHEAP: known(reward=0.0), DEAR: known(reward=0.0)}, Counter(), POLICY) == CHEAP


def test_the_reward_of_an_optimisation_is_its_gain_and_never_less_than_nothing(story):
    story.breed({"arm": DEAR}).right(0, 0.0)
    story.breed({"arm": CHEAP, "parents": ("k0",)}, {"arm": DEAR, "parents": ("k0",)}).right(1, 0.5).right(2, -0.5)
    found = records(story, policy=Policy(decay=1.0))
    assert (found[CHEAP].pulls, found[CHEAP].reward) == (1.0, 0.5)
    assert (found[DEAR].pulls, found[DEAR].reward) == (2.0, 0.0)


def test_a_translation_or_repair_has_done_its_work_when_it_is_right(story):
    story.breed({"arm": CHEAP, "operator": Operator.TRANSLATE}, {"arm": DEAR, "operator": Operator.TRANSLATE})
    story.wrong(0).right(1, -3.0)
    found = records(story, Operator.TRANSLATE)
    assert (found[CHEAP].mean, found[DEAR].mean) == (0.0, 1.0)


def test_faults_say_nothing_and_other_operators_neither(story):
    story.breed({"arm": CHEAP}, {"arm": CHEAP, "operator": Operator.REPAIR}).fault(0).wrong(1)
    assert records(story) == {}


def test_old_pulls_fade(story):
    story.breed({"arm": CHEAP}, {"arm": CHEAP}).wrong(0).wrong(1).call(0, 0.02).call(1, 0.04)
    (found,) = records(story, policy=Policy(decay=0.5)).values()
    assert (found.pulls, found.price) == (1.5, 0.03)
