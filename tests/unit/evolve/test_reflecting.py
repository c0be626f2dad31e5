"""The scratchpad: asked for now and then, and one lesson for every question after that."""

from dataclasses import replace

from warpwright.core.records.search import Action, Arm, Lesson
from warpwright.evolve.inputs import SearchInputs
from warpwright.evolve.policy import Budget, Policy
from warpwright.evolve.selection.hints import record
from warpwright.evolve.selection.population import population

POLICY = Policy(arms=(Arm(model="small"),), reflect_every=3)


def settled(story):
    return story.breed({}, {}, {}).right(0, 0.1).right(1, 0.2).wrong(2).evaluate("k0", "k1")


def test_a_reflection_after_so_many_settled_candidates_and_only_where_it_is_wanted(story):
    settled(story)
    assert story.decision(POLICY).action is Action.REFLECT
    assert story.decision(replace(POLICY, reflect_every=4)).action is Action.BREED
    assert story.decision(replace(POLICY, reflect_every=None)).action is Action.BREED


def test_the_next_reflection_waits_for_as_many_again(story):
    settled(story).decide(Action.REFLECT)
    story.records.append(Lesson(decision=2, text="wider loads help"))
    made = story.decision(POLICY)
    assert made.action is Action.BREED
    assert {brief.lesson for brief in made.briefs} == {"wider loads help"}


def test_a_lesson_without_text_teaches_nothing(story):
    settled(story).decide(Action.REFLECT)
    story.records.append(Lesson(decision=2, text=""))
    assert {brief.lesson for brief in story.decision(POLICY).briefs} == {None}


def test_there_is_no_money_for_a_reflection(story):
    settled(story).call(0, 1.0)
    assert story.decision(replace(POLICY, budget=Budget(usd=1.0))).action is Action.STOP


def test_a_hint_that_helped_comes_up_more_often(story):
    story.breed({}).right(0, 0.0)
    story.breed(
        {"parents": ("k0",), "hint": "good"}, {"parents": ("k0",), "hint": "bad"}, {"hint": "lost"}, generation=1
    )
    story.right(1, 0.3).wrong(2).fault(3)
    snapshot = story.snapshot()
    worth = record(snapshot.members, population(snapshot))
    assert worth["good"] > 1.0 > worth["bad"] > 0.0
    assert "lost" not in worth


def test_without_hints_none_is_given(story):
    settled(story)
    assert {brief.hint for brief in story.decision(replace(POLICY, reflect_every=None), SearchInputs()).briefs} == {
        None
    }
