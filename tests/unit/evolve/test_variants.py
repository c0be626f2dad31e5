"""Variants without a model's ideas: tuned constants, composed genomes, merged specialists."""

import random

import pytest
from hypothesis import given
from hypothesis import strategies as st

from warpwright.core.records.search import Action, Arm, Operator
from warpwright.evolve.inputs import SearchInputs, Tunables
from warpwright.evolve.policy import Policy
from warpwright.evolve.selection.configs import anywhere, crossed, fresh, key, mutated, neighbours
from warpwright.evolve.selection.population import population
from warpwright.evolve.selection.specialise import pair, union

ARMS = (Arm(model="small"), Arm(model="large", effort="high"))
SPACE = {"BLOCK": (64, 128, 256), "VECTOR": (1, 4)}
NOW = {"BLOCK": 128, "VECTOR": 1}
spaces = st.dictionaries(
    st.sampled_from("abcd"), st.lists(st.integers(), min_size=1, max_size=4, unique=True).map(tuple), min_size=1
)


def declared(**genome):
    return Tunables(space=SPACE, genome={**NOW, **genome})


def genomes(decision):
    return sorted((brief.genome["BLOCK"], brief.genome["VECTOR"]) for brief in decision.briefs)


def test_a_new_best_has_its_constants_tried_step_by_step(story):
    story.breed({}).right(0, 0.0).evaluate("k0")
    made = story.decision(given=SearchInputs(tunables={"k0": declared()}))
    assert {brief.operator for brief in made.briefs} == {Operator.TUNE}
    assert {brief.parents for brief in made.briefs} == {("k0",)}
    assert genomes(made) == [(64, 1), (128, 4), (256, 1)]
    assert made.generation == 0


def test_tuning_goes_on_from_the_better_setting_without_going_back(story):
    story.breed({}).right(0, 0.0).evaluate("k0")
    tune = {"operator": Operator.TUNE, "arm": None, "parents": ("k0",)}
    story.breed({**tune, "genome": {**NOW, "BLOCK": 256}}, {**tune, "genome": {**NOW, "BLOCK": 64}})
    story.right(1, 0.2).right(2, -0.1).evaluate("k1", "k2")
    told = SearchInputs(tunables={"k0": declared(), "k1": declared(BLOCK=256), "k2": declared(BLOCK=64)})
    made = story.decision(Policy(arms=ARMS, tunes=4), told)
    assert genomes(made) == [(256, 4)]
    assert made.briefs[0].parents == ("k1",)
    assert story.decision(Policy(arms=ARMS, tunes=2), told).generation == 1


def test_an_old_best_is_not_tuned_again(story):
    story.breed({}).right(0, 0.5).evaluate("k0").breed({"parents": ("k0",)}, generation=1).right(1, 0.1).evaluate("k1")
    made = story.decision(given=SearchInputs(tunables={"k0": declared(), "k1": declared()}))
    assert made.generation == 2


@given(spaces, st.integers(0, 99))
def test_genomes_stay_within_their_space(space, seed):
    rng = random.Random(seed)
    one, other = anywhere(space, rng), anywhere(space, rng)
    for genome in (one, other, mutated(one, space, rng), crossed(one, other, space, rng), *neighbours(one, space)):
        assert genome.keys() == space.keys()
        assert all(genome[name] in values for name, values in space.items())
    assert all(sum(near[name] != one[name] for name in space) == 1 for near in neighbours(one, space))


def test_a_fresh_genome_was_not_tried_and_an_exhausted_space_has_none():
    rng = random.Random(0)
    tried = {key({"A": 1})}
    assert fresh(lambda: anywhere({"A": (1, 2)}, rng), tried) == {"A": 2}
    assert fresh(lambda: anywhere({"A": (1,)}, rng), tried) is None


def test_without_arms_the_composer_begins_with_its_own_choice(story):
    made = story.decision(Policy(proposals=3), SearchInputs(space=SPACE, genome=NOW))
    assert made.briefs[0].genome == NOW
    assert {brief.operator for brief in made.briefs} == {Operator.COMPOSE}
    assert len(genomes(made)) == len(set(genomes(made))) == 3


def test_composed_children_come_of_the_best_and_no_genome_comes_twice(story):
    compose = {"operator": Operator.COMPOSE, "arm": None}
    story.breed({**compose, "genome": NOW}, {**compose, "genome": {**NOW, "VECTOR": 4}})
    story.right(0, 0.0).right(1, 0.4).evaluate("k0", "k1")
    made = story.decision(Policy(proposals=8), SearchInputs(space=SPACE, genome=NOW))
    assert made.generation == 1
    assert not set(genomes(made)) & {(128, 1), (128, 4)}
    assert len(set(genomes(made))) == len(made.briefs)
    assert {parent for brief in made.briefs for parent in brief.parents} <= {"k0", "k1"}


def test_a_space_that_is_used_up_ends_the_run(story):
    story.breed({"operator": Operator.COMPOSE, "arm": None, "genome": {"A": 1}}).right(0, 0.0).evaluate("k0")
    made = story.decision(Policy(), SearchInputs(space={"A": (1,)}))
    assert (made.action, made.reason) == (Action.STOP, "Nothing is left to try.")


def shaped(story, *scores):
    story.breed(*[{}] * len(scores))
    for number, (small, large) in enumerate(scores):
        story.answer(number).climb(f"k{number}")
        story.score(f"k{number}", (small + large) / 2, by_case={"small": small, "large": large})
    return population(story.snapshot()).structures


def test_two_specialists_are_worth_a_merge_and_a_dominated_kernel_is_not(story):
    structures = shaped(story, (0.6, 0.0), (0.1, 0.7), (-0.1, -0.1))
    slow, one, other = structures
    assert union(one, other) == pytest.approx(0.65)
    assert union(slow, other) == pytest.approx(other.score.value)
    assert pair((slow, other), ()) is None


def test_a_pair_must_beat_the_best_of_all(story):
    assert pair(shaped(story, (0.6, 0.0), (0.1, 0.5), (0.7, 0.7)), ()) is None


def test_the_merge_that_gains_most_is_asked_for_once(story):
    shaped(story, (0.6, 0.0), (0.1, 0.7), (0.3, 0.3))
    story.evaluate("k0", "k1", "k2")
    made = story.decision()
    merges = [brief for brief in made.briefs if brief.operator is Operator.SPECIALISE]
    assert [set(brief.parents) for brief in merges] == [{"k0", "k1"}]
    story.breed({"operator": Operator.SPECIALISE, "parents": ("k1", "k0")}, generation=1).wrong(3)
    snapshot = story.snapshot()
    again = pair(population(snapshot).structures, snapshot.members)
    assert again is None or {again[0].candidate, again[1].candidate} != {"k0", "k1"}


def test_scores_without_cases_are_never_merged(story):
    story.breed({}, {}).right(0, 0.1).right(1, 0.2)
    assert pair(population(story.snapshot()).structures, story.snapshot().members) is None


def test_without_models_specialists_are_merged_by_rule(story):
    shaped(story, (0.6, 0.0), (0.1, 0.7))
    story.evaluate("k0", "k1")
    made = story.decision(Policy(), SearchInputs(space={"A": (1, 2, 3)}))
    (merge,) = [brief for brief in made.briefs if brief.operator is Operator.SPECIALISE]
    assert (set(merge.parents), merge.arm) == ({"k0", "k1"}, None)
    assert "merged" in made.reason
