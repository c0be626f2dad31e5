"""`bench --suite` without a GPU: what can be said, is said; results from elsewhere make the table."""

from __future__ import annotations

import json
from pathlib import Path

from typer.testing import CliRunner, Result

from warpwright.cli.main import app
from warpwright.core.records.evidence import Evidence, Verdict
from warpwright.core.records.judged import Judged
from warpwright.core.records.measurement import Cache, Measurement, Scene
from warpwright.core.task import Role
from warpwright.dispatch.bundle import read_jobs, write_result

CORPUS = Path(__file__).parents[2] / "corpus" / "seal"


def bench(*words: object) -> Result:
    return CliRunner().invoke(app, ["bench", *map(str, words)])


def kernels(folder: Path) -> Path:
    (folder / "kernels").mkdir(parents=True)
    (folder / "kernels" / "softmax.cu").write_text((CORPUS / "softmax_online_warp.cu").read_text())
    return folder / "kernels"


def test_a_kernel_or_a_suite_must_be_named(tmp_path: Path) -> None:
    assert bench().exit_code == 2
    assert "no suite 'modem'" in bench("--suite", "modem").output
    empty = bench("--suite", "modern", "--kernels", tmp_path)
    assert (empty.exit_code, "named after a task" in empty.output) == (2, True)


def test_results_from_elsewhere_make_the_table(tmp_path: Path) -> None:
    words = ("--suite", "modern", "--kernels", kernels(tmp_path), "--out", tmp_path / "trip")
    before = bench(*words)
    assert before.exit_code == 3, before.output
    assert "worker.pyz" in before.output
    (job,) = read_jobs(tmp_path / "trip" / "jobs")
    candidate = job.sealed.manifest.candidate
    scene = Scene(gpu="NVIDIA H200", torch="2.11")
    times = [
        Measurement(
            subject=subject, task=job.task.key, case=case.name, cache=Cache.COLD, samples_us=(time, time * 1.001),
            stopped_because="enough", scene=scene,
        )
        for case in job.task.cases_of(Role.TIME)
        for subject, time in ((candidate, 500.0), ("eager", 1000.0), ("compile", 750.0))
    ]  # fmt: skip
    holds = Evidence(candidate=candidate, rung="judge", verdict=Verdict.HOLDS, scene=scene)
    write_result(
        tmp_path / "trip" / "results",
        Judged(job=job.id, label="softmax.cu", task=job.task.key, candidate=candidate, evidence=(holds,),
               measurements=tuple(times)),
    )  # fmt: skip
    after = bench(*words, "--json")
    assert after.exit_code == 0, after.output
    told = {item["baseline"]: item for item in json.loads(after.stdout)["overview"]["against"]}
    assert round(told["eager"]["geometric_mean"], 2) == 2.0
    assert round(told["compile"]["geometric_mean"], 2) == 1.5
    assert told["eager"]["fast"]["1.5"] == 1 / json.loads(after.stdout)["overview"]["tasks"]
    assert "1 of" in bench(*words).output


def test_fewer_cases_are_timed_and_all_are_checked(tmp_path: Path) -> None:
    jobs = {}
    for name, words in {"all": (), "one": ("--cases", 1)}.items():
        bench("--suite", "modern", "--kernels", kernels(tmp_path / name), "--out", tmp_path / name, *words)
        (jobs[name],) = read_jobs(tmp_path / name / "jobs")
    roles = {name: [[case.name for case in job.task.cases_of(role)] for role in Role] for name, job in jobs.items()}
    assert roles["one"] == [
        found[:1] if role is Role.TIME else found for role, found in zip(Role, roles["all"], strict=True)
    ]
