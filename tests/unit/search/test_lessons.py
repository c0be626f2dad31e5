"""What earlier runs taught reaches the prompts of later ones, as long as those have no lessons of their own."""

from __future__ import annotations

from pathlib import Path

from warpwright.archive.opening import open_archive
from warpwright.archive.store import Archive
from warpwright.core.records.search import Action, Arm, Decision, Lesson, Operator, Run
from warpwright.evolve.decide import decide
from warpwright.evolve.fold import fold
from warpwright.evolve.inputs import SearchInputs
from warpwright.evolve.policy import Policy
from warpwright.search.settings import Settings
from warpwright.search.wiring import begin, earlier_lessons, settings_of
from warpwright.tasks import load

TASK = load("modern/swiglu:forward")[0]
SETTINGS = Settings(task=TASK.key, policy=Policy(arms=(Arm(model="command:true"),)), dispatch="predict", output=None)


def taught(archive: Archive, name: str, task: str, text: str) -> None:
    archive.begin(Run(id=name, task=task, seed=1, started="2026-01-01", warpwright="0"))
    archive.append(name, Decision(number=0, generation=1, action=Action.REFLECT, reason="enough", seed=1))
    archive.append(name, Lesson(decision=0, text=text))


def test_lessons_for_the_same_function_are_found_and_stay_with_the_run(tmp_path: Path) -> None:
    with open_archive(tmp_path / "a.db") as archive:
        taught(archive, "r1", "modern/swiglu:backward", "Wider loads helped.")
        taught(archive, "r2", "modern/softmax:forward", "Swiglu forward is modern.")
        run = begin(archive, SETTINGS)
        assert settings_of(run).lessons == ("Wider loads helped. (From an earlier search for modern/swiglu:backward.)",)
        taught(archive, "r3", TASK.key, "Two passes lost.")
        assert len(earlier_lessons(archive, TASK)) == 2
        assert len(settings_of(archive.run(run.id)).lessons) == 1


def test_a_proposal_is_told_an_earlier_lesson() -> None:
    run = Run(id="r", task=TASK.key, seed=1, started="2026-01-01", warpwright="0")
    made = decide(fold(run, ()), SETTINGS.policy, SearchInputs(lessons=("Wider loads helped.",)))
    asked = [brief for brief in made.briefs if brief.operator is Operator.TRANSLATE]
    assert {brief.lesson for brief in asked} == {"Wider loads helped."}
