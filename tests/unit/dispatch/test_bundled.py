"""Results of a GPU elsewhere are matched to the candidates of this run."""

from dataclasses import replace
from pathlib import Path

import pytest

from warpwright.core.candidate import Candidate
from warpwright.core.records.evidence import Evidence, Fault, Verdict
from warpwright.core.records.judged import Judged, JudgeOptions
from warpwright.dispatch import evaluating
from warpwright.dispatch.bundle import make_job, write_bundle, write_result
from warpwright.dispatch.evaluating import Bundled, BundleSent
from warpwright.tasks import load

MINE = Candidate(source="// mine")


@pytest.fixture(scope="module")
def task():
    (task,) = load("argmax:forward")
    return task


@pytest.fixture(autouse=True)
def _nothing_is_sealed(monkeypatch, task):
    """Builds jobs without a cubin, which no test here needs."""

    def jobs(task, candidates, asked, secret):
        return [make_job(candidate.id, task, None, asked=asked) for candidate in candidates], []

    monkeypatch.setattr(evaluating, "jobs_of", jobs)


def judged(task, job="1", **changed):
    evidence = Evidence(candidate=MINE.id, rung="judge", verdict=Verdict.HOLDS)
    record = Judged(job=job, label="mine", task=task.key, candidate=MINE.id, evidence=(evidence,))
    return replace(record, **changed)


def found(task, folder: Path):
    return list(Bundled(task, JudgeOptions(), 7, folder).evaluate([MINE], {}))


def test_the_first_call_writes_jobs_and_the_next_one_reads_their_results(task, tmp_path):
    with pytest.raises(BundleSent):
        found(task, tmp_path)
    (job,) = (tmp_path / "jobs").glob("*.json")
    write_result(tmp_path / "results", judged(task, job.stem))
    assert found(task, tmp_path) == [judged(task, job.stem)]


def test_results_of_other_jobs_are_ignored(task, tmp_path):
    write_bundle(tmp_path, [make_job("other", task, None)])
    write_result(tmp_path / "results", judged(task))
    with pytest.raises(BundleSent):
        found(task, tmp_path)


def test_without_jobs_results_are_matched_by_task(task, tmp_path):
    write_result(tmp_path / "results", judged(task, "1"))
    assert found(task, tmp_path) == [judged(task, "1")]


def test_results_for_another_task_are_ignored(task, tmp_path):
    write_result(tmp_path / "results", replace(judged(task), task="modern/other:forward"))
    with pytest.raises(BundleSent):
        found(task, tmp_path)


def test_a_candidate_that_met_only_our_faults_is_sent_again(task, tmp_path):
    fault = Fault(where="judge", message="no memory")
    write_result(tmp_path / "results", judged(task, "1", evidence=(), faults=(fault,)))
    with pytest.raises(BundleSent):
        found(task, tmp_path)
