"""From nothing to the first right candidate, and repairs on the way and later."""

from warpwright.core.records.evidence import Counterexample, Evidence, Verdict
from warpwright.core.records.search import Action, Arm, Operator
from warpwright.evolve.inputs import SearchInputs
from warpwright.evolve.policy import Policy

ARMS = (Arm(model="small"), Arm(model="large", effort="high"))
TRANSLATE, REPAIR = {"operator": Operator.TRANSLATE}, Operator.REPAIR


def asked(decision):
    return [(brief.operator, brief.parents) for brief in decision.briefs]


def test_a_run_begins_with_a_translation(story):
    made = story.decision()
    assert (made.action, made.generation) == (Action.BREED, 0)
    assert asked(made) == [(Operator.TRANSLATE, ())]


def test_a_backward_pass_is_derived_from_a_forward_kernel_that_is_given(story):
    assert asked(story.decision(given=SearchInputs(forward="f00"))) == [(Operator.DERIVE, ("f00",))]


def test_models_begin_with_a_composed_kernel_where_there_is_one(story):
    space, genome = {"block": (64, 128)}, {"block": 128}
    made = story.decision(given=SearchInputs(space=space, genome=genome))
    assert asked(made) == [(Operator.COMPOSE, ())]
    assert made.briefs[0].genome == genome
    assert asked(story.decision(Policy(arms=ARMS, composer=False), given=SearchInputs(space=space, genome=genome))) == [
        (Operator.TRANSLATE, ())
    ]


def test_no_generations_still_means_a_first_right_candidate(story):
    policy = Policy(arms=ARMS, generations=0)
    assert asked(story.decision(policy)) == [(Operator.TRANSLATE, ())]
    story.breed(TRANSLATE).wrong(0)
    assert asked(story.decision(policy)) == [(REPAIR, ("k0",))]


def test_composed_kernels_that_nobody_can_score_are_given_up(story):
    given = SearchInputs(space={"block": tuple(range(100))}, genome={"block": 1})
    policy = Policy(attempts=4, proposals=4)
    story.breed(*[{"operator": Operator.COMPOSE, "genome": {"block": number}} for number in range(4)])
    for number in range(4):
        story.wrong(number)
    assert story.decision(policy, given=given).action is Action.STOP


def test_a_wrong_translation_is_repaired_and_after_enough_repairs_begun_anew(story):
    story.breed(TRANSLATE).wrong(0)
    assert asked(story.decision()) == [(REPAIR, ("k0",))]
    story.breed({"operator": REPAIR, "parents": ("k0",)}).wrong(1)
    assert asked(story.decision()) == [(REPAIR, ("k1",))]
    story.breed({"operator": REPAIR, "parents": ("k1",)}).wrong(2)
    assert asked(story.decision(Policy(arms=ARMS, repair_depth=2))) == [(Operator.TRANSLATE, ())]


def test_an_answer_without_code_cannot_be_repaired(story):
    story.breed(TRANSLATE).answer(0, None)
    story.records[-1] = type(story.records[-1])(brief=0, problem="no code")
    assert asked(story.decision()) == [(Operator.TRANSLATE, ())]


def test_after_all_attempts_the_run_gives_up(story):
    story.breed(*[TRANSLATE] * 10)
    for number in range(10):
        story.wrong(number)
    made = story.decision()
    assert (made.action, made.reason) == (
        Action.STOP,
        "None of 10 attempts gave a correct candidate that could be scored.",
    )


def test_the_first_right_candidate_is_evaluated_and_then_bred_from(story):
    story.breed(TRANSLATE, TRANSLATE).wrong(0).answer(1).climb("k1")
    made = story.decision()
    assert (made.action, made.candidates) == (Action.EVALUATE, ("k1",))
    story.evaluate("k1").score("k1", -0.3)
    made = story.decision()
    assert (made.action, made.generation, len(made.briefs)) == (Action.BREED, 1, 8)
    assert {brief.parents for brief in made.briefs} == {("k1",)}


def test_without_a_model_and_a_composer_nothing_can_be_done(story):
    made = story.decision(Policy(composer=False), SearchInputs(space={"A": (1, 2)}))
    assert (made.action, made.reason) == (
        Action.STOP,
        "No model is given, and the composer cannot write this task.",
    )
    assert story.decision(Policy()).action is Action.STOP


def test_later_on_repairs_have_a_budget_of_their_own_and_the_best_parents_come_first(story):
    story.breed({}, {}).right(0, 0.1).right(1, 0.5).evaluate("k0", "k1")
    story.breed({"parents": ("k0",)}, {"parents": ("k1",)}, {"parents": ("k0",)}, generation=1).wrong(2).wrong(3).wrong(
        4
    )
    made = story.decision(Policy(arms=ARMS, repairs=2))
    assert asked(made) == [(REPAIR, ("k3",)), (REPAIR, ("k2",))]
    assert made.generation == 1
    assert story.decision(Policy(arms=ARMS, repairs=0)).generation == 2


def test_a_candidate_is_repaired_once_and_the_budget_of_the_generation_holds(story):
    story.breed({}).right(0, 0.1).evaluate("k0")
    story.breed({"parents": ("k0",)}, {"parents": ("k0",)}, generation=1).wrong(1).wrong(2)
    story.breed({"operator": REPAIR, "parents": ("k1",)}).answer(3).climb("k3")
    assert asked(story.decision(Policy(arms=ARMS, repairs=2))) == [(REPAIR, ("k2",))]
    assert story.decision(Policy(arms=ARMS, repairs=1)).action is Action.EVALUATE


def test_what_only_the_judge_refutes_is_repaired_too(story):
    shown = Counterexample(kind="race", message="results differ between runs")
    wrong = Evidence(candidate="k0", rung="judge", verdict=Verdict.REFUTED, counterexample=shown)
    story.breed(TRANSLATE).answer(0).climb("k0").evaluate("k0").judge("k0", evidence=(wrong,))
    assert asked(story.decision()) == [(REPAIR, ("k0",))]


def test_a_kernel_that_the_user_gave_is_repaired_like_any_other(story):
    story.breed({"operator": Operator.TRANSLATE, "arm": None}).wrong(0)
    assert asked(story.decision()) == [(REPAIR, ("k0",))]


def told_of_repairs(story, *, mended):
    """Four repairs of what sealing refuted, so many of them with success; then one more of each rung."""
    story.breed({}, {}, {}, {}).right(0, 0.1).right(1, 0.1).right(2, 0.1).right(3, 0.1).evaluate("k0")
    story.breed(*[{"parents": ("k0",)}] * 6, generation=1)
    for number in range(4, 10):
        story.answer(number).refute(f"k{number}", rung="emulate" if number == 9 else "seal")
    story.breed(*({"operator": REPAIR, "parents": (f"k{number}",)} for number in range(4, 8)))
    for number in range(10, 14):
        story.answer(number).climb(f"k{number}") if number - 10 < mended else story.wrong(number)
    return [parents for _, parents in asked(story.decision(Policy(arms=ARMS, repairs=9, repair_depth=1)))]


def test_what_repairs_never_mended_is_not_repaired(story):
    assert told_of_repairs(story, mended=0) == [("k9",)]


def test_what_repairs_often_mended_is_repaired(stories):
    assert told_of_repairs(stories(), mended=4) == [("k8",), ("k9",)]


def test_the_most_promising_are_evaluated_first(story):
    story.breed({}, {}).right(0, 0.1).right(1, 0.5).evaluate("k0", "k1")
    story.breed({"parents": ("k0",)}, {"parents": ("k1",)}, {"parents": ("k0",)}, generation=1)
    for number in (2, 3, 4):
        story.answer(number).climb(f"k{number}")
    assert story.decision(Policy(arms=ARMS, evaluate=2)).candidates == ("k3", "k4")
    told = SearchInputs(promise={"k2": 0.9, "k3": 0.1})
    assert story.decision(Policy(arms=ARMS, evaluate=2), told).candidates == ("k2", "k4")
