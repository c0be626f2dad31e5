"""Records become a snapshot: the same one, however the answers of one decision were mixed."""

import random

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from warpwright.core.records.evidence import Counterexample, Evidence, Fault, Verdict
from warpwright.core.records.search import (
    Action,
    Arm,
    Basis,
    Decision,
    Fate,
    Lesson,
    Operator,
    Prediction,
    Proposal,
    Run,
    Score,
    Session,
)
from warpwright.evolve.fold import fold
from warpwright.evolve.policy import Policy
from warpwright.evolve.work import Work, unfinished

RUN = Run(id="r", task="t", seed=1, started="", warpwright="0")


def fates(story):
    return [member.fate for member in story.snapshot().members]


def test_nothing_happened(story):
    snapshot = story.snapshot()
    assert snapshot.members == ()
    assert snapshot.generation == 0
    assert not unfinished(snapshot)


def test_each_fate_on_the_way_of_a_proposal(story):
    story.breed({})
    assert fates(story) == [Fate.ASKED]
    story.answer(0)
    assert fates(story) == [Fate.ASKED]
    story.climb("k0")
    assert fates(story) == [Fate.WAITING]
    story.score("k0", -0.2)
    assert fates(story) == [Fate.IMPROVED]


def test_improved_is_better_than_all_before_it(story):
    story.breed({}, {}, {}).right(0, -0.5).right(1, -0.6).right(2, -0.4)
    assert fates(story) == [Fate.IMPROVED, Fate.SLOWER, Fate.IMPROVED]


def test_what_failed_says_where_and_why(story):
    story.breed({}).wrong(0)
    (member,) = story.snapshot().members
    assert (member.fate, member.refuted_by) == (Fate.REFUTED, "emulate")
    assert member.issue == "mismatch: element 3 differs (line 12)"


def test_a_refutation_on_the_gpu_outweighs_everything(story):
    shown = Counterexample(kind="race", message="results differ between runs")
    wrong = Evidence(candidate="k0", rung="judge", verdict=Verdict.REFUTED, counterexample=shown)
    story.breed({}).right(0, 0.3).judge("k0", evidence=(wrong,), seconds={"check": 3.0})
    (member,) = story.snapshot().members
    assert (member.fate, member.refuted_by, member.score) == (Fate.REFUTED, "judge", None)


def test_answers_without_code_and_faults_are_told_apart(story):
    story.breed({}, {}).fault(0)
    story.records.append(Proposal(brief=1, problem="no code"))
    assert fates(story) == [Fate.FAULTED, Fate.UNREADABLE]


def test_a_fault_of_ours_is_no_verdict(story):
    story.breed({}, {}).answer(0).climb("k0", faults=(Fault(where="seal", message="no disk"),))
    story.answer(1).climb("k1").judge("k1", faults=(Fault(where="gpu", message="lost"),))
    assert fates(story) == [Fate.FAULTED, Fate.FAULTED]


def test_a_lost_rival_does_not_spoil_a_score(story):
    story.breed({}).right(0, 0.1).judge("k0", faults=(Fault(where="rival", message="no compile"),))
    assert fates(story) == [Fate.IMPROVED]


def test_correct_and_judged_without_a_time_is_unscored(story):
    story.breed({}).answer(0).climb("k0").evaluate("k0").judge("k0")
    assert fates(story) == [Fate.UNSCORED]
    assert not unfinished(story.snapshot())


def test_a_failed_prediction_changes_no_verdict(story):
    late = Evidence(candidate="k0", rung="predict", verdict=Verdict.UNDECIDED, reason="out of CPU time")
    story.breed({}).answer(0).climb("k0").evaluate("k0").judge("k0", evidence=(late,))
    assert fates(story) == [Fate.UNSCORED]
    assert story.snapshot().members[0].holds


def test_a_check_that_could_not_decide_leaves_a_candidate_undecided(story):
    open_ = Evidence(candidate="k0", rung="judge", verdict=Verdict.UNDECIDED, reason="out of memory")
    story.breed({}).answer(0).climb("k0").evaluate("k0").judge("k0", evidence=(open_,))
    assert fates(story) == [Fate.UNDECIDED]
    assert not story.snapshot().members[0].holds


def test_predicted_without_a_score_is_unscored(story):
    story.breed({}).answer(0).climb("k0").evaluate("k0")
    story.records.append(Prediction(candidate="k0", task="t", case="c", gpu="h200", time_us=3.0, limited_by="memory"))
    assert fates(story) == [Fate.UNSCORED]
    assert not unfinished(story.snapshot())


@pytest.mark.parametrize("value", [float("nan"), float("inf")])
def test_a_value_that_is_no_number_is_no_score(story, value):
    story.breed({}).right(0, value)
    assert fates(story) == [Fate.WAITING]


def test_a_measured_score_comes_before_a_predicted_one(story):
    story.breed({}).right(0, 0.1).score("k0", -0.9, basis=Basis.PREDICTED)
    assert story.snapshot().members[0].score.value == 0.1


def test_a_repeat_belongs_to_the_first_brief_whoever_answered_first(story):
    story.breed({}, {}, {}).answer(1, "same").answer(0, "same").answer(2, "other", duplicate_of="same").climb("same")
    assert fates(story) == [Fate.WAITING, Fate.DUPLICATE, Fate.DUPLICATE]


def test_children_are_counted_but_repairs_tunings_and_faults_are_not(story):
    story.breed({}).right(0, 0.0)
    operators = (Operator.OPTIMISE, Operator.CROSSOVER, Operator.REPAIR, Operator.TUNE, Operator.OPTIMISE)
    story.breed(*({"operator": operator, "parents": ("k0",)} for operator in operators))
    for number in range(1, 5):
        story.wrong(number)
    story.fault(5)
    assert story.snapshot().members[0].children == 2


def test_repairs_count_from_the_last_candidate_that_was_no_repair(story):
    story.breed({}).wrong(0)
    story.breed({"operator": Operator.REPAIR, "parents": ("k0",)}).wrong(1)
    story.breed({"operator": Operator.REPAIR, "parents": ("k1",)}).wrong(2)
    story.breed({"parents": ("k2",)}).wrong(3)
    assert [member.repairs for member in story.snapshot().members] == [0, 1, 2, 0]


def test_costs_are_added_up_and_what_is_unknown_stays_unknown(story):
    story.breed({}, {}, {}).call(0, 0.25).call(0, 0.5).call(1, 0.25).call(1, None).call(None, 1.0)
    story.records.append(Session(seconds=12.0, reason="stopped"))
    snapshot = story.snapshot()
    assert [member.cost_usd for member in snapshot.members] == [0.75, None, None]
    assert (snapshot.spent.usd, snapshot.spent.unpriced, snapshot.spent.tokens) == (2.0, 1, 750)
    assert snapshot.spent.wall_seconds == 12.0


def test_gpu_seconds_are_the_judges_own_where_there_are_any(story):
    story.breed({}, {}).right(0, 0.1).right(1, 0.2)
    story.records += [Score(candidate="k0", basis=Basis.PREDICTED, value=0.1, gpu_seconds=1.0)]
    story.judge("k1", seconds={"check": 2.0, "time": 3.0}).score("k1", 0.2, gpu_seconds=5.0)
    assert story.snapshot().spent.gpu_seconds == 6.0


def test_what_is_owed_to_the_last_decision(story):
    story.breed({}, {}).answer(0)
    work = unfinished(story.snapshot())
    assert ([brief.number for brief in work.ask], work.verify) == ([1], ("k0",))
    story.answer(1).climb("k0").climb("k1").evaluate("k0", "k1").score("k1", 0.0)
    assert unfinished(story.snapshot()) == Work(evaluate=("k0",))


def test_a_reflection_is_owed_its_lesson_even_an_empty_one(story):
    story.decide(Action.REFLECT)
    assert unfinished(story.snapshot()).reflect.number == 0
    story.records.append(Lesson(decision=0, text=""))
    assert not unfinished(story.snapshot())


@settings(max_examples=20)
@given(seed=st.integers(0, 10_000))
def test_the_order_of_the_answers_makes_no_difference(world, seed):
    policy = Policy(arms=(Arm(model="small"), Arm(model="large", effort="high")), generations=2)
    records = world(seed, policy).play().records
    decisions = [record for record in records if isinstance(record, Decision)]
    others = [record for record in records if not isinstance(record, Decision)]
    random.Random(seed).shuffle(others)
    assert fold(RUN, [*decisions, *others]) == fold(RUN, records)
