"""Tuning and merging as a run: what is tried is remembered, what is wrong is left out, winners by shape are merged."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path

import pytest

from warpwright.archive.opening import open_archive
from warpwright.archive.store import Archive
from warpwright.core.candidate import Candidate, Flags
from warpwright.core.errors import ModelFailed
from warpwright.core.protocols import Reply, Request
from warpwright.core.records.evidence import Counterexample, Dossier, Evidence, Fault, Verdict
from warpwright.core.records.judged import Judged
from warpwright.core.records.measurement import Cache, Measurement, Scene
from warpwright.core.records.rungs import PREDICT
from warpwright.core.records.search import (
    Arm,
    Basis,
    Brief,
    Call,
    Decision,
    Fate,
    Operator,
    Prediction,
    Run,
    Score,
    Snapshot,
)
from warpwright.core.task import Case, Output, Reference, Role, Task, TensorArg, Work
from warpwright.dispatch.evaluating import undecided
from warpwright.propose.prompting.known import Known
from warpwright.propose.tuning.ranking import entrants
from warpwright.search.line import straight_line
from warpwright.search.run import SearchRun
from warpwright.search.services import ModelServices
from warpwright.search.tuning import Tuned, Tuning
from warpwright.search.wiring import enter_start

SIZES = (1 << 10, 1 << 24)
TASK = Task(
    name="double",
    arguments=(TensorArg(name="x", shape=("N",)),),
    outputs=(Output(name="y", shape=("N",)),),
    cases=tuple(Case(name=f"N{size}", role=Role.TIME, dims={"N": size}) for size in SIZES),
    work=Work(reads="N*e", writes="N*e"),
    reference=Reference(source="def forward(x):\n    return 2 * x\n"),
)
SOURCE = """#include <torch/extension.h>
// tune: BLOCK = 64, 128, 256, 512
constexpr int BLOCK = 64;
torch::Tensor forward(torch::Tensor x) { return x; }
PYBIND11_MODULE(TORCH_EXTENSION_NAME, m) { m.def("forward", &forward); }
"""
RUN = Run(id="tune-1", task=TASK.key, seed=7, started="2026-01-01", warpwright="0")
WRONG = 512


def block(candidate: Candidate) -> int:
    return min(int(found) for found in re.findall(r"BLOCK = (\d+);", candidate.source))


def time_us(candidate: Candidate, size: int) -> float:
    """64 is best where there is little to do, 128 where there is much; what is merged has the best of both."""
    merged = "namespace part_" in candidate.source
    wish = {SIZES[0]: 64, SIZES[1]: 128}[size]
    return 100.0 if merged else 100.0 + abs(block(candidate) - wish)


class Straw:
    """Tools that count what they are asked."""

    def __init__(self, basis: Basis) -> None:
        self.basis, self.climbed, self.evaluated, self.faulty = basis, 0, 0, False

    def climb(self, candidates: Sequence[Candidate]) -> Iterator[tuple[Dossier, Sequence[Call]]]:
        for candidate in candidates:
            self.climbed += 1
            if self.faulty:
                yield Dossier(candidate=candidate.id, task=TASK.key, faults=(Fault(where="nvcc", message="lost"),)), ()
                continue
            wrong = block(candidate) == WRONG
            evidence = Evidence(
                candidate=candidate.id,
                rung="emulate",
                verdict=Verdict.REFUTED if wrong else Verdict.HOLDS,
                counterexample=Counterexample(kind="race", message="two threads") if wrong else None,
            )
            yield Dossier(candidate=candidate.id, task=TASK.key, evidence=(evidence,)), ()

    def evaluate(
        self, candidates: Sequence[Candidate], dossiers: Mapping[str, Dossier]
    ) -> Iterator[Judged | tuple[Prediction, ...]]:
        for candidate in candidates:
            assert dossiers[candidate.id].verdict is Verdict.HOLDS
            self.evaluated += 1
            yield predicted(candidate) if self.basis is Basis.PREDICTED else judged(candidate)


def predicted(candidate: Candidate) -> tuple[Prediction, ...]:
    return tuple(
        Prediction(
            candidate=candidate.id, task=TASK.key, case=f"N{size}", gpu="h200", time_us=time_us(candidate, size),
            limited_by="straw",
        )
        for size in SIZES
    )  # fmt: skip


def judged(candidate: Candidate) -> Judged:
    def measurement(subject: str, size: int, time: float) -> Measurement:
        return Measurement(
            subject=subject, task=TASK.key, case=f"N{size}", cache=Cache.COLD, samples_us=(time, time, time),
            stopped_because="enough", scene=Scene(gpu="NVIDIA H200"),
        )  # fmt: skip

    mine = [measurement(candidate.id, size, time_us(candidate, size)) for size in SIZES]
    rivals = [measurement("eager", size, 200.0) for size in SIZES]
    holds = Evidence(candidate=candidate.id, rung="judge", verdict=Verdict.HOLDS)
    return Judged(
        job=candidate.id, label="k", task=TASK.key, candidate=candidate.id, evidence=(holds,),
        measurements=(*mine, *rivals),
    )  # fmt: skip


class Silent:
    def saw(self, snapshot: object) -> None: ...

    def doing(self, what: str) -> None: ...


class Services(ModelServices):
    """The services of a run, of which the ladder is a straw man's."""

    def climb(self, candidates: Sequence[Candidate]) -> Iterator[tuple[Dossier, Sequence[Call]]]:
        yield from self.predictor.climb(candidates)


def tune(
    archive: Archive, *bases: Basis, merge: bool = False, faulty: bool = False
) -> tuple[Tuned, dict[Basis, Straw], Snapshot]:
    archive.begin(RUN)
    straws = {basis: Straw(basis) for basis in (Basis.PREDICTED, *bases)}
    straws[Basis.PREDICTED].faulty = faulty
    tuning = Tuning(tried=entrants(Candidate(source=SOURCE)), merge=merge, measured=Basis.MEASURED in bases)
    if not archive.records(RUN.id, Decision):
        enter_start(archive, RUN, tuning.tried[0].candidate, tuning.tried[0].settings)
    services = Services(
        task=TASK, flags=Flags(), models={}, evaluator=straws[bases[-1]], predictor=straws[Basis.PREDICTED]
    )
    run = SearchRun(run=RUN, task=TASK, archive=archive, policy=tuning.decide, services=services, watcher=Silent(),
        keeps_faults=False,
    )  # fmt: skip
    snapshot = straight_line(run)
    return tuning.result(snapshot), straws, snapshot


def test_the_best_setting_wins_and_a_wrong_one_is_left_out(tmp_path: Path) -> None:
    with open_archive(tmp_path / "a.db") as archive:
        done, _, snapshot = tune(archive, Basis.PREDICTED)
        best = block(archive.candidate(done.best or ""))
    assert (best, done.basis, len(done.scores)) in ((64, "predicted", 3), (128, "predicted", 3))
    fates = {member.brief.genome["BLOCK"]: member.fate for member in snapshot.members}
    assert fates[WRONG] is Fate.REFUTED
    assert snapshot.members[0].brief.parents == ()


def test_what_was_found_out_is_not_found_out_again(tmp_path: Path) -> None:
    with open_archive(tmp_path / "a.db") as archive:
        first, straws, _ = tune(archive, Basis.PREDICTED, merge=True)
        assert (straws[Basis.PREDICTED].climbed, straws[Basis.PREDICTED].evaluated) == (5, 4)
        again, straws, _ = tune(archive, Basis.PREDICTED, merge=True)
    assert (straws[Basis.PREDICTED].climbed, straws[Basis.PREDICTED].evaluated) == (0, 0)
    assert again == first


def test_what_ended_in_a_fault_of_ours_is_tried_again(tmp_path: Path) -> None:
    with open_archive(tmp_path / "a.db") as archive:
        failed, _, snapshot = tune(archive, Basis.PREDICTED, faulty=True)
        assert failed.best is None
        assert {member.fate for member in snapshot.members} == {Fate.FAULTED}
        done, straws, _ = tune(archive, Basis.PREDICTED)
    assert done.best is not None
    assert straws[Basis.PREDICTED].climbed == 4


def test_measurements_decide_where_there_is_a_gpu(tmp_path: Path) -> None:
    with open_archive(tmp_path / "a.db") as archive:
        done, straws, _ = tune(archive, Basis.PREDICTED, Basis.MEASURED)
    assert done.basis is Basis.MEASURED
    assert (straws[Basis.PREDICTED].evaluated, straws[Basis.MEASURED].evaluated) == (3, 3)
    assert {score.basis for score in done.scores.values()} == {Basis.MEASURED}


def test_all_settings_are_measured_where_none_can_be_predicted(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def silent(self: Straw, candidates: Sequence[Candidate], dossiers: object) -> Iterator[Judged]:
        for candidate in candidates:
            yield judged(candidate) if self.basis is Basis.MEASURED else undecided(TASK, candidate.id, PREDICT, "odd")

    monkeypatch.setattr(Straw, "evaluate", silent)
    with open_archive(tmp_path / "a.db") as archive:
        done, _, _ = tune(archive, Basis.PREDICTED, Basis.MEASURED)
    assert (done.basis, len(done.scores)) == (Basis.MEASURED, 3)


@pytest.mark.parametrize("bases", [(Basis.PREDICTED,), (Basis.PREDICTED, Basis.MEASURED)])
def test_winners_of_different_shapes_are_merged_into_a_better_kernel(tmp_path: Path, bases: tuple[Basis, ...]) -> None:
    with open_archive(tmp_path / "a.db") as archive:
        done, _, _ = tune(archive, *bases, merge=True)
        assert done.merged is not None
        assert done.best == done.merged
        assert "if (x.size(0) <= 131072) {" in archive.candidate(done.merged).source
        dossiers = {item.candidate: item for item in archive.records(RUN.id, Dossier)}
    assert dossiers[done.merged].verdict is Verdict.HOLDS


class JudgeOptions:
    name = "asked"

    def complete(self, request: Request) -> Reply:
        raise ModelFailed("key", "somebody was asked")


def scored(source: str, small: float, large: float) -> Known:
    candidate = Candidate(source=source)
    by_case = {f"N{SIZES[0]}": small, f"N{SIZES[1]}": large}
    value = (small + large) / 2
    return Known(
        candidate=candidate,
        score=Score(candidate=candidate.id, basis=Basis.PREDICTED, value=value, by_case=by_case),
    )


@pytest.mark.parametrize("arm", [None, Arm(model="asked")])
def test_a_search_merges_by_rule_and_asks_a_model_only_where_no_rule_can(arm: Arm | None) -> None:
    shop = ModelServices(task=TASK, flags=Flags(), models={"asked": JudgeOptions()}, evaluator=Straw(Basis.PREDICTED))
    plain, other = scored(SOURCE, 1.0, 0.0), scored(SOURCE.replace("= 64;", "= 128;"), 0.0, 1.0)
    odd = scored("int x;", 0.0, 1.0)
    library = {kernel.candidate.id: kernel for kernel in (plain, other, odd)}

    def merged(*parents: Known) -> Brief:
        ids = tuple(parent.candidate.id for parent in parents)
        return Brief(number=1, operator=Operator.SPECIALISE, parents=ids, arm=arm)

    done = shop.propose(merged(plain, other), library, ())
    assert done.candidate is not None
    assert "namespace part_1" in done.candidate.source
    assert done.calls == ()
    refused = shop.propose(merged(plain, odd), library, ())
    assert refused.candidate is None
    assert ("somebody was asked" if arm else "no PYBIND11_MODULE") in (refused.problem or "")
