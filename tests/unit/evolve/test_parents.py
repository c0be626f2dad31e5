"""Who breeds: weights, parents, partners, and what a writer is shown."""

import math
import random
from collections import Counter

from hypothesis import given
from hypothesis import strategies as st

from warpwright.core.records.search import Arm, Operator
from warpwright.evolve.inputs import SearchInputs
from warpwright.evolve.policy import Policy
from warpwright.evolve.selection.context import context, near_misses
from warpwright.evolve.selection.parents import parent, weights
from warpwright.evolve.selection.population import population

scores = st.lists(st.tuples(st.floats(-50, 50), st.integers(0, 100)), min_size=1, max_size=30)
ARMS = (Arm(model="small"), Arm(model="large", effort="high"))


@given(scores)
def test_weights_are_positive_and_finite(pairs):
    found = weights([score for score, _ in pairs], [count for _, count in pairs])
    assert all(0.0 < weight < math.inf for weight in found)


@given(scores, st.floats(-50, 50), st.integers(0, 100))
def test_the_better_weighs_no_less_and_the_fruitful_less(pairs, score, children):
    values, counts = (
        [*(s for s, _ in pairs), score, score + 1.0, score],
        [*(c for _, c in pairs), children, children, children + 1],
    )
    found = weights(values, counts)
    assert found[-2] >= found[-3] > found[-1]


def test_exploiting_takes_the_best_and_exploring_takes_others_too(story):
    story.breed({}, {}, {}).right(0, -0.1).right(1, 0.3).right(2, 0.1)
    pool = population(story.snapshot()).structures
    rng = random.Random(0)
    assert {parent(pool, Counter(), rng, exploit=1.0).candidate for _ in range(20)} == {"k1"}
    drawn = Counter(parent(pool, Counter(), rng, exploit=0.0).candidate for _ in range(300))
    assert drawn["k1"] > drawn["k2"] > drawn["k0"] > 0


def test_children_asked_for_in_this_turn_count_at_once(story):
    story.breed({}, {}).right(0, 0.1).right(1, 0.1)
    pool = population(story.snapshot()).structures
    drawn = Counter(parent(pool, Counter(k1=9), random.Random(seed), exploit=0.0).candidate for seed in range(200))
    assert drawn["k0"] > 150


def test_context_is_the_fastest_slowest_first_without_the_parents(story):
    story.breed(*[{}] * 7)
    for number, value in enumerate((0.5, 0.1, 0.4, 0.2, 0.3, 0.6, 0.0)):
        story.right(number, value)
    people = population(story.snapshot())
    assert context(people, 5, ("k5",)) == ("k1", "k3", "k4", "k2", "k0")
    assert context(people, 2, ()) == ("k0", "k5")
    assert context(people, 0, ()) == ()


def test_context_shows_other_methods_and_no_near_copies(story):
    translate = {"operator": Operator.TRANSLATE}
    story.breed(translate, translate).right(0, 0.1).right(1, 0.2)
    story.breed({"parents": ("k1",)}, {"parents": ("k1",)}, {"parents": ("k0",)}, generation=1)
    story.right(2, 0.3).right(3, 0.4).right(4, 0.15)
    people = population(story.snapshot())
    assert context(people, 5, ("k3",)) == ("k4",)
    assert context(people, 5, ()) == ("k4", "k3")


def test_context_shows_one_setting_of_a_tuned_source(story):
    story.breed({}).right(0, 0.1).breed({"operator": Operator.TUNE, "parents": ("k0",)}).right(1, 0.2)
    assert context(population(story.snapshot()), 5, ()) == ("k1",)


def test_the_near_miss_came_of_the_best_parent_and_was_not_put_right(story):
    story.breed({}, {}).right(0, 0.1).right(1, 0.5)
    story.breed({"parents": ("k0",)}, {"parents": ("k1",)}, {"parents": ("k1",)}).wrong(2).wrong(3).wrong(4)
    snapshot = story.snapshot()
    assert near_misses(snapshot.members, population(snapshot)) == ["k4", "k3", "k2"]
    story.breed({"operator": Operator.REPAIR, "parents": ("k4",)}).right(5, 0.6)
    snapshot = story.snapshot()
    assert near_misses(snapshot.members, population(snapshot)) == ["k3", "k2"]


def test_a_crossover_takes_two_that_are_not_of_one_line(story):
    story.breed({}).right(0, 0.0).evaluate("k0")
    story.breed({"parents": ("k0",)}, {"parents": ("k0",)}, generation=1).right(1, 0.2).right(2, 0.1).evaluate(
        "k1", "k2"
    )
    policy = Policy(arms=ARMS, crossover=1.0, exploit=1.0, specialise=False)
    crossed = [brief for brief in story.decision(policy).briefs if brief.operator is Operator.CROSSOVER]
    assert [brief.parents for brief in crossed] == [("k1", "k2")]


def test_hints_come_up_once_on_a_candidate_and_not_on_its_descendants(story):
    story.breed({}).right(0, 0.0).evaluate("k0")
    story.breed({"parents": ("k0",), "hint": "a"}, generation=1).right(1, 0.3).evaluate("k1")
    policy = Policy(arms=ARMS, exploit=1.0, crossover=0.0, proposals=4)
    made = story.decision(policy, SearchInputs(hints=tuple("abcde")))
    assert sorted(brief.hint for brief in made.briefs) == ["b", "c", "d", "e"]


def test_a_hint_is_given_again_once_all_were(story):
    story.breed({}).right(0, 0.0).evaluate("k0")
    made = story.decision(Policy(arms=ARMS, exploit=1.0, crossover=0.0, proposals=3), SearchInputs(hints=("a", "b")))
    assert {brief.hint for brief in made.briefs} == {"a", "b"}
