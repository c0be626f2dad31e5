"""The folder of a corpus: what is done stays done, and the labels join everything."""

from __future__ import annotations

from pathlib import Path

from typer.testing import CliRunner

from warpwright.cli.main import app
from warpwright.core.candidate import Candidate
from warpwright.core.records.evidence import Verdict
from warpwright.core.task import Case, Output, Reference, Role, Task, TensorArg
from warpwright.faults import corpus
from warpwright.faults.context import Context, context_of
from warpwright.faults.corpus import Planter, harvest_in, without_kernels, write_labels
from warpwright.faults.mutants import Mutant
from warpwright.faults.running import Runner
from warpwright.faults.witness import ASKED, BEYOND, Witness
from warpwright.seal.cache import Store
from warpwright.verify.evaluation import read_labels

KERNEL = """
__global__ void twice(const float* x, float* y, int n) {
  for (int i = threadIdx.x; i < n; i += blockDim.x) y[i] = x[i] * 2.0f;
}
"""
MODULE = """
import torch

class Scaled(torch.nn.Module):
    def __init__(self):
        super().__init__()
        self.gain = torch.nn.Parameter(torch.ones(3))
        self.other = torch.nn.Parameter(torch.tensor([1.0, 2.0, 3.0]))

    def forward(self, x):
        return x * self.gain * self.other
"""
TASK = Task(
    name="scaled",
    arguments=(TensorArg(name="x", shape=(3,)), TensorArg(name="g", shape=(3,)), TensorArg(name="o", shape=(3,))),
    outputs=(Output(name="y", shape=(3,)),),
    cases=(Case(name="one", role=Role.CHECK),),
    reference=Reference(source=MODULE, entry="Scaled", style="module", state=("gain", "other")),
)


class Searched:
    """Finds that every other fault shows, and only beyond the requested sizes if it is about a constant."""

    def __init__(self, **_: object) -> None:
        self.asked = 0

    def is_usable(self) -> bool:
        return True

    def witness(self, mutant: Mutant) -> Witness | None:
        self.asked += 1
        scope = BEYOND if mutant.family == "constant" else ASKED
        return Witness(scope=scope, case="one", how="y is wrong") if self.asked % 2 else None


def planted(folder: Path, monkeypatch) -> corpus.Harvest:  # type: ignore[no-untyped-def]
    monkeypatch.setattr(corpus, "Searcher", Searched)
    planter = Planter(
        folder=folder,
        name="twice",
        spec="tasks/twice.py",
        task=TASK,
        original=Candidate(source=KERNEL),
        context=Context(),
        runner=Runner(gpu="h200", store=Store(root=folder / "store")),
    )
    return planter.harvest(each=1, seed=0)


def test_the_original_and_the_witnessed_faults_are_labelled(tmp_path: Path, monkeypatch) -> None:  # type: ignore[no-untyped-def]
    harvest = planted(tmp_path, monkeypatch)
    assert harvest_in(tmp_path, "twice") == harvest
    assert harvest.without_witness > 0
    write_labels(tmp_path)
    labels = read_labels(tmp_path / "labels.csv")
    assert [label.kind for label in labels if label.path.name == "right.cu"] == ["right"]
    assert all(label.path.read_text() != KERNEL for label in labels if label.verdict is Verdict.REFUTED)
    beyond = [label for label in labels if label.scope == "beyond"]
    assert all(label.verdict is Verdict.HOLDS and label.kind == "constant" for label in beyond)


def test_an_original_without_kernels_is_not_tried_again(tmp_path: Path) -> None:
    without_kernels(tmp_path, "hard", "the composer cannot write it")
    found = harvest_in(tmp_path, "hard")
    assert found is not None
    assert found.reason == "the composer cannot write it"
    write_labels(tmp_path)
    assert read_labels(tmp_path / "labels.csv") == ()


def test_parameters_that_are_one_number_are_identities() -> None:
    assert context_of(TASK, None).identities == {"g": "ones"}


def test_a_corpus_needs_kernels(tmp_path: Path) -> None:
    found = CliRunner().invoke(app, ["verifiers", "corpus", "--out", str(tmp_path)])
    assert found.exit_code == 2
