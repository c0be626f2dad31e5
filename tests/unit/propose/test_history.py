"""What a run has tried reaches later prompts, and no two prompts of a run are the same."""

from __future__ import annotations

from dataclasses import replace

from warpwright.core.candidate import Candidate, Flags
from warpwright.core.records.search import (
    Action,
    Arm,
    Basis,
    Brief,
    Decision,
    Fate,
    Member,
    Operator,
    Run,
    Score,
    Snapshot,
)
from warpwright.propose.prompting.history import history
from warpwright.propose.prompting.known import Known
from warpwright.propose.prompting.prompt import Setting, prompt, shared_part
from warpwright.tasks import load

RUN = Run(id="r", task="layernorm:forward", seed=7, started="2026-01-01T00:00:00Z", warpwright="0")
(LAYERNORM,) = load("layernorm:forward")
KERNEL = Candidate(source="PYBIND11_MODULE(TORCH_EXTENSION_NAME, m) {}\n")
LIBRARY = {KERNEL.id: Known(candidate=KERNEL)}


def brief(number: int, **more: object) -> Brief:
    return Brief(number=number, operator=Operator.OPTIMISE, parents=(KERNEL.id,), arm=Arm(model="m"), **more)  # type: ignore[arg-type]


def decision(number: int, *briefs: Brief) -> Decision:
    return Decision(number=number, generation=number, action=Action.BREED, reason="", seed=0, briefs=briefs)


def snapshot(*decisions: Decision, **fates: Member) -> Snapshot:
    briefs = [item for made in decisions for item in made.briefs]
    members = tuple(fates.get(f"k{item.number}", Member(brief=item, generation=0, fate=Fate.ASKED)) for item in briefs)
    return Snapshot(run=RUN, members=members, decisions=decisions)


def ended(item: Brief, fate: Fate, **more: object) -> Member:
    return Member(brief=item, generation=0, fate=fate, **more)  # type: ignore[arg-type]


def asked(run: Snapshot, item: Brief) -> str:
    setting = Setting(
        task=LAYERNORM,
        brief=item,
        library=LIBRARY,
        flags=Flags(),
        tried=history(run, item),
        issue="a barrier is missing",
    )
    return prompt(setting)


def test_equal_briefs_of_one_decision_get_different_prompts() -> None:
    twins = [brief(number) for number in range(3)]
    run = snapshot(decision(0, *twins))
    assert len({asked(run, item) for item in twins}) == 3


def test_an_equal_brief_of_a_later_decision_gets_another_prompt() -> None:
    first, second = brief(0), brief(1)
    wrong = ended(first, Fate.REFUTED, refuted_by="emulate", issue="race: barrier missing")
    run = snapshot(decision(0, first), decision(1, second), k0=wrong)
    assert asked(run, first) != asked(run, second)
    assert "wrong, found by emulate: race: barrier missing" in asked(run, second)


def test_a_resumed_run_asks_the_same_whatever_others_have_answered() -> None:
    first, second = brief(0), brief(1)
    open_ = snapshot(decision(0, first, second))
    answered = snapshot(decision(0, first, second), k0=ended(first, Fate.UNREADABLE, issue="no code"))
    assert asked(open_, second) == asked(answered, second)


def test_times_are_told_with_their_basis_and_faults_of_ours_are_not_told() -> None:
    quick, lost, last = brief(0, hint="vector-access"), brief(1), brief(2)
    score = Score(candidate="k0", basis=Basis.PREDICTED, value=-0.693147)
    members = {"k0": ended(quick, Fate.IMPROVED, score=score), "k1": ended(lost, Fate.FAULTED)}
    told = history(snapshot(decision(0, quick, lost), decision(1, last), **members), last)
    assert told.count("\n") == 0
    assert "50% of the physical limit (predicted)" in told
    assert "16 bytes" in told


def test_all_prompts_of_a_run_begin_with_the_same_part() -> None:
    run, setting = snapshot(), Setting(task=LAYERNORM, brief=brief(0), library=LIBRARY, flags=Flags())
    other = Brief(number=1, operator=Operator.REWRITE, parents=(KERNEL.id,))
    first = Brief(number=2, operator=Operator.TRANSLATE)
    shared = shared_part(setting)
    assert all(asked(run, item).startswith(shared) for item in (brief(0), other, first))
    assert len(shared) > 0.7 * len(asked(run, brief(0)))


def test_a_writer_is_told_when_times_are_only_predicted() -> None:
    first = Setting(task=LAYERNORM, brief=Brief(number=0, operator=Operator.TRANSLATE), library={}, flags=Flags())
    assert "No GPU is at hand" not in prompt(first)
    assert "No GPU is at hand" in prompt(replace(first, predicts=True))
