"""The worker on machines with a defect: it prints one sentence and loses nothing."""

import json

import pytest

from warpwright.core.records.judged import Judged
from warpwright.judge import judging, worker


class Willing:
    """Judges any job at once."""

    def __init__(self, crate=None):
        self.closed = False

    def judge(self, job):
        return Judged(job=job.id, label=job.label, task=job.task.key, candidate="c")

    def close(self):
        self.closed = True


@pytest.fixture
def jobs(tmp_path):
    (tmp_path / "jobs").mkdir()
    for number, name in enumerate(("softmax", "argmax", "softmax")):
        task = {"suite": "modern", "name": name, "direction": "forward"}
        (tmp_path / "jobs" / f"{number}.json").write_text(json.dumps({"task": task}))
    return tmp_path / "jobs"


def test_without_a_gpu_the_worker_says_so(jobs, tmp_path, monkeypatch, capsys):
    monkeypatch.setattr(judging, "gpu_is_here", lambda: False)
    assert worker.main([str(jobs), "--out", str(tmp_path / "results")]) == 3
    assert "no NVIDIA GPU found" in capsys.readouterr().err


def test_jobs_of_one_task_follow_each_other(jobs, tmp_path, monkeypatch, capsys):
    monkeypatch.setattr(judging, "gpu_is_here", lambda: True)
    monkeypatch.setattr(judging, "Judge", Willing)
    assert worker.main([str(jobs), "--out", str(tmp_path / "results")]) == 0
    said = [line.split()[1] for line in capsys.readouterr().err.splitlines()]
    assert said == ["1:", "0:", "2:"]
    assert sorted(path.name for path in (tmp_path / "results").iterdir()) == ["0.json", "1.json", "2.json"]


def test_a_full_disk_ends_the_worker_with_one_sentence_and_keeps_written_results(jobs, tmp_path, monkeypatch, capsys):
    monkeypatch.setattr(judging, "gpu_is_here", lambda: True)
    monkeypatch.setattr(judging, "Judge", Willing)
    plain, written = worker._write, []

    def full(path, text):
        if written:
            raise OSError(28, "No space left on device")
        written.append(path)
        plain(path, text)

    monkeypatch.setattr(worker, "_write", full)
    assert worker.main([str(jobs), "--out", str(tmp_path / "results")]) == 4
    assert "No space left on device" in capsys.readouterr().err
    assert [path.name for path in (tmp_path / "results").glob("*.json")] == [written[0].name]
