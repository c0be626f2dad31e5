"""A search run with scripted services: its records, its best file, resumption after a kill at any point, and money
spent.
"""

from __future__ import annotations

import random
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path

import pytest

from warpwright.archive.opening import open_archive
from warpwright.archive.store import Archive
from warpwright.core.candidate import Candidate
from warpwright.core.codec import content_id
from warpwright.core.records.evidence import Counterexample, Dossier, Evidence, Verdict
from warpwright.core.records.search import (
    Action,
    Arm,
    Basis,
    Brief,
    Call,
    Decision,
    Fate,
    Operator,
    Prediction,
    Proposal,
    Run,
    Snapshot,
)
from warpwright.core.task import Case, Output, Reference, Role, Task, TensorArg, Work
from warpwright.evolve.inputs import SearchInputs
from warpwright.evolve.policy import Policy
from warpwright.models.spending.prices import Prices, Rate
from warpwright.propose.prompting.known import Library
from warpwright.propose.proposing import Proposed
from warpwright.search.line import straight_line
from warpwright.search.run import SearchRun
from warpwright.search.wiring import evolving, spent_usd

TASK = Task(
    name="double",
    arguments=(TensorArg(name="x", shape=("N",)),),
    outputs=(Output(name="y", shape=("N",)),),
    cases=(Case(name="big", role=Role.TIME, dims={"N": 1 << 24}),),
    work=Work(reads="N*e", writes="N*e"),
    reference=Reference(source="def forward(x):\n    return 2 * x\n"),
)
RUN = Run(id="r", task=TASK.key, seed=7, started="2026-01-01", warpwright="0")
POLICY = Policy(arms=(Arm(model="straw"),), generations=3, proposals=4, evaluate=2, repairs=2, enough=None)


class Straw:
    """Scripted services whose answers depend only on the brief, like those of a recorded model."""

    def given(self, library: Library, dossiers: Mapping[str, Dossier]) -> SearchInputs:
        return SearchInputs(hints=("wider", "fewer passes"))

    def propose(self, brief: Brief, library: Library, asked: Sequence[Call], tried: str) -> Proposed:
        luck = random.Random(brief.number).random()
        call = Call(id=f"c{brief.number}", brief=brief.number, purpose="x", model="straw", prompt="?", reply="!",
                    usage={"input": 10, "output": 5}, cost_usd=0.01, seconds=1.0)  # fmt: skip
        if luck < 0.1 and brief.number:
            return Proposed(problem="no code", calls=(call,))
        wrong = (luck < 0.4 or brief.number == 0) and brief.operator is not Operator.REPAIR
        name, value = content_id([brief.number, brief.parents]), f"{brief.number}" + (" + WRONG" if wrong else "")
        source = f"int k{name}() {{ return {value}; }}"
        return Proposed(candidate=Candidate(source=source), calls=(call,))

    def climb(self, candidates: Sequence[Candidate]) -> Iterator[tuple[Dossier, Sequence[Call]]]:
        for candidate in candidates:
            wrong = "WRONG" in candidate.source
            evidence = Evidence(
                candidate=candidate.id,
                rung="emulate",
                verdict=Verdict.REFUTED if wrong else Verdict.HOLDS,
                counterexample=Counterexample(kind="race", message="two threads", line=3) if wrong else None,
            )
            yield Dossier(candidate=candidate.id, task=TASK.key, evidence=(evidence,)), ()

    def evaluate(
        self, candidates: Sequence[Candidate], dossiers: Mapping[str, Dossier], basis: Basis | None = None
    ) -> Iterator[tuple[Prediction, ...]]:
        for candidate in candidates:
            assert dossiers[candidate.id].verdict is Verdict.HOLDS
            time = 60.0 + random.Random(candidate.id).random() * 100
            yield (
                Prediction(
                    candidate=candidate.id, task=TASK.key, case="big", gpu="h200", time_us=time, limited_by="straw"
                ),
            )

    def reflect(self, snapshot: Snapshot, library: Library) -> tuple[str, Sequence[Call]]:
        return "straw burns", ()


class Silent:
    def saw(self, snapshot: Snapshot) -> None: ...

    def doing(self, what: str) -> None: ...


def search_run(archive: Archive, folder: Path) -> SearchRun:
    return SearchRun(
        run=RUN, task=TASK, archive=archive, policy=evolving(POLICY), services=Straw(), watcher=Silent(),
        output=folder / "best.cu", workers=3, clock=lambda: 0.0,
    )  # fmt: skip


def history(archive: Archive) -> tuple[tuple[Decision, ...], set[Proposal]]:
    return archive.records("r", Decision), set(map(repr, archive.records("r", Proposal)))


def test_a_run_ends_with_the_best_kernel_in_its_file(tmp_path: Path) -> None:
    with open_archive(tmp_path / "a.db") as archive:
        archive.begin(RUN)
        snapshot = straight_line(search_run(archive, tmp_path))
        scored = [member for member in snapshot.members if member.score]
        winner = max(scored, key=lambda member: member.score.value)
        assert (tmp_path / "best.cu").read_text() == archive.candidate(winner.candidate).source
        assert snapshot.decisions[-1].action is Action.STOP
        assert snapshot.spent.usd == pytest.approx(0.01 * len(snapshot.members))
        assert {member.fate for member in snapshot.members} >= {Fate.REFUTED, Fate.SLOWER, Fate.IMPROVED}
        assert Operator.REPAIR in {member.brief.operator for member in snapshot.members}


class Killed(BaseException):
    """Stands for kill -9: no clean-up happens."""


class Mortal:
    """An archive that dies after a number of appends, before or after the last one is on disk."""

    def __init__(self, archive: Archive, lives: int) -> None:
        self._archive, self._lives = archive, lives

    def append(self, run: str, record: object) -> bool:
        self._lives -= 1
        if self._lives < 0:
            raise Killed
        return self._archive.append(run, record)

    def __getattr__(self, name: str) -> object:
        return getattr(self._archive, name)


@pytest.mark.parametrize("seed", range(6))
def test_a_run_killed_at_any_point_resumes_with_the_same_decisions(tmp_path: Path, seed: int) -> None:
    with open_archive(tmp_path / "whole.db") as archive:
        archive.begin(RUN)
        straight_line(search_run(archive, tmp_path))
        whole = history(archive)
    rng = random.Random(seed)
    with open_archive(tmp_path / "killed.db") as archive:
        archive.begin(RUN)
    for _ in range(1000):
        with open_archive(tmp_path / "killed.db") as archive:
            try:
                straight_line(search_run(Mortal(archive, rng.randint(1, 12)), tmp_path))
                break
            except Killed:
                continue
    with open_archive(tmp_path / "killed.db") as archive:
        assert history(archive) == whole


def test_only_one_process_at_a_time_runs_a_search(tmp_path: Path) -> None:
    from warpwright.core.errors import UsageError

    with open_archive(tmp_path / "a.db") as archive, open_archive(tmp_path / "a.db") as other:
        archive.begin(RUN)
        with archive.claim("r"), pytest.raises(UsageError, match="is in use"):
            straight_line(search_run(other, tmp_path))


PRICES = Prices(rates=(Rate(model="openai:writer", input=1.0, output=2.0),))


def call(model: str, cost: float | None, error: str | None = None) -> Call:
    return Call(id="c", brief=1, purpose="translate", model=model, prompt="x" * 1000, cost_usd=cost, error=error,
                seconds=1.0)  # fmt: skip


def test_known_costs_are_summed_for_answered_and_failed_calls() -> None:
    calls = [
        call("openai:writer", 0.25),
        call("openai:writer", 0.5, "cut off"),
        call("openai:writer", 0.0, "slow down"),
    ]
    assert spent_usd(calls, PRICES) == pytest.approx(0.75)


def test_a_call_of_unknown_cost_counts_with_its_upper_bound() -> None:
    most = spent_usd([call("openai:writer", None, "too late")], PRICES)
    assert most >= (1000 * 1.0 + 32_000 * 2.0) / 1e6
    assert most < 0.1


def test_a_model_without_a_price_does_not_count_against_the_budget() -> None:
    assert spent_usd([call("mailbox:box", None)], PRICES) == 0.0
