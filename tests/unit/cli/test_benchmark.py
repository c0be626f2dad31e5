"""`bench --suite kernelbench:FOLDER` without a GPU: results from elsewhere make the table and the files."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
from typer.testing import CliRunner, Result

from warpwright.cli.main import app
from warpwright.core.records.evidence import Evidence, Verdict
from warpwright.core.records.judged import Job, Judged
from warpwright.core.records.measurement import Cache, Measurement, Scene
from warpwright.core.task import Role
from warpwright.dispatch.bundle import read_jobs, write_result

PROBLEM = """import torch

class Model(torch.nn.Module):
    def forward(self, x):
        return x.{operation}()

def get_inputs():
    return [torch.rand(4, 8)]

def get_init_inputs():
    return []
"""
KERNEL = """#include <torch/extension.h>
__global__ void relu(const float* x, float* y, int n) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < n) y[i] = x[i] > 0.f ? x[i] : (x[i] == x[i] ? 0.f : x[i]);
}
torch::Tensor forward(torch::Tensor x) {
  auto y = torch::empty_like(x);
  relu<<<(x.numel() + 255) / 256, 256>>>(x.data_ptr<float>(), y.data_ptr<float>(), x.numel());
  return y;
}
PYBIND11_MODULE(TORCH_EXTENSION_NAME, m) { m.def("forward", &forward); }
"""


def bench(*words: object) -> Result:
    return CliRunner().invoke(app, ["bench", *map(str, words)])


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    for level, name, operation in (
        ("level1", "1_relu", "relu"),
        ("level1", "2_tanh", "tanh"),
        ("level2", "1_exp", "exp"),
    ):
        place = tmp_path / "problems" / level
        place.mkdir(parents=True, exist_ok=True)
        (place / f"{name}.py").write_text(PROBLEM.format(operation=operation))
    (tmp_path / "problems" / "level1" / "3_broken.py").write_text("class Model(:\n")
    (tmp_path / "kernels" / "level1").mkdir(parents=True)
    (tmp_path / "kernels" / "level1" / "1_relu.cu").write_text(KERNEL)
    return tmp_path


def judged(job: Job) -> Judged:
    assert job.sealed is not None
    candidate = job.sealed.manifest.candidate
    (case,) = job.task.cases_of(Role.TIME)
    times = [
        Measurement(
            subject=subject, task=job.task.key, case=case.name, cache=Cache.COLD, samples_us=(time, time * 1.001),
            stopped_because="enough", scene=Scene(gpu="NVIDIA H200"),
        )
        for subject, time in ((candidate, 50.0), ("eager", 100.0))
    ]  # fmt: skip
    holds = Evidence(candidate=candidate, rung="judge", verdict=Verdict.HOLDS)
    return Judged(
        job=job.id,
        label=job.label,
        task=job.task.key,
        candidate=candidate,
        evidence=(holds,),
        measurements=tuple(times),
    )


def test_a_run_is_resumed_from_its_folder_and_writes_its_files(folder: Path) -> None:
    words = ("--suite", f"kernelbench:{folder / 'problems'}", "--kernels", folder / "kernels", "--out", folder / "run")
    before = bench(*words, "--levels", "1")
    assert before.exit_code == 3, before.output
    (job,) = read_jobs(folder / "run" / "jobs")
    write_result(folder / "run" / "results", judged(job))
    after = bench(*words, "--levels", "1", "--json")
    assert after.exit_code == 0, after.output
    rows = {row["name"]: row["outcome"] for row in json.loads(after.output)["rows"]}
    assert rows == {"1_relu": "holds", "2_tanh": "no kernel", "3_broken": "cannot be loaded"}
    samples = json.loads((folder / "run" / "kernelbench" / "level1" / "eval_results.json").read_text())
    assert samples["1"][0]["correctness"] is True
    assert (folder / "run" / "results.csv").read_text().count("\n") == 4
    assert "1_relu" in (folder / "run" / "index.html").read_text()


def test_a_run_holds_one_precision(folder: Path) -> None:
    words = ("--suite", f"kernelbench:{folder / 'problems'}", "--out", folder / "run", "--levels", "1")
    assert bench(*words, "--precision", "tf32").exit_code == 3
    assert {job.task.tolerance.tf32 for job in read_jobs(folder / "run" / "jobs")} == {True}
    other = bench(*words, "--precision", "strict")
    assert (other.exit_code, "precision tf32" in other.output.replace("\n", " ")) == (2, True), other.output


def test_a_shard_holds_every_nth_problem(folder: Path) -> None:
    words = ("--suite", f"kernelbench:{folder / 'problems'}", "--out", folder / "run", "--shard", "2/2")
    assert bench(*words).exit_code == 3
    assert {job.task.name for job in read_jobs(folder / "run" / "jobs")} == {"2_tanh", "1_exp"}


@pytest.mark.parametrize(
    ("words", "said"),
    [
        (("kernelbench:nowhere",), "is no folder"),
        (("suite:{folder}",), "no kind of benchmark"),
        (("kernelbench:{folder}", "--levels", "7"), "has no level7"),
        (("kernelbench:{folder}", "--shard", "3/2"), "no part 3 of 2"),
        (("kernelbench:{folder}", "--shard", "x"), "two numbers"),
        (("kernelbench:{folder}", "--precision", "half"), "no precision"),
    ],
)
def test_a_mistake_is_told_in_one_sentence(folder: Path, words: tuple[str, ...], said: str) -> None:
    given = [word.format(folder=folder / "problems") for word in words]
    found = bench("--suite", *given, "--out", folder / "run")
    assert (found.exit_code, said in found.output.replace("\n", " ")) == (2, True), found.output
