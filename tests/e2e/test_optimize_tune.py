"""`warpwright tune` on a real kernel without a GPU: settings are sealed, emulated, predicted, and recorded."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
from typer.testing import CliRunner, Result

from warpwright.cli.main import app
from warpwright.dispatch.predicting import Predictor
from warpwright.search.services import ModelServices

KERNEL = """#include <torch/extension.h>
// tune: TIMES = 1, 3
constexpr int TIMES = 3;
__global__ void scaled_relu(const float* x, float* out, int n) {
  const int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < n) out[i] = fmaxf(x[i], 0.0f) * 2.0f;
}
torch::Tensor forward(torch::Tensor x) {
  auto out = torch::empty_like(x);
  const int n = static_cast<int>(x.numel());
  for (int k = 0; k < TIMES; ++k)
    scaled_relu<<<(n + 255) / 256, 256>>>(x.data_ptr<float>(), out.data_ptr<float>(), n);
  return out;
}
PYBIND11_MODULE(TORCH_EXTENSION_NAME, m) { m.def("forward", &forward); }
"""


@pytest.fixture(autouse=True)
def at_home(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    Path("ref.py").write_text("import torch\n\n\ndef forward(x):\n    return torch.relu(x) * 2.0\n")
    Path("k.cu").write_text(KERNEL)


def tuned(*words: str) -> Result:
    done = CliRunner().invoke(app, [
        "tune", "k.cu", "--task", "ref.py:forward", "--input", "64,33", "--archive", "a.db", *words,
    ])  # fmt: skip
    assert "Traceback" not in done.output
    return done


def test_the_faster_setting_is_written_and_remembered(monkeypatch: pytest.MonkeyPatch) -> None:
    done = tuned("--dispatch", "predict")
    assert done.exit_code == 0, done.output
    assert "Best: TIMES = 1" in done.output
    assert "predicted, not measured" in done.output
    assert Path("k.tuned.cu").read_text() == KERNEL.replace("TIMES = 3;", "TIMES = 1;")

    def again(*_: object) -> None:
        raise AssertionError("this was found out before")

    monkeypatch.setattr(ModelServices, "climb", again)
    monkeypatch.setattr(Predictor, "evaluate", again)
    done = tuned("--dispatch", "predict", "--merge", "--json")
    assert done.exit_code == 0, done.output
    told = json.loads(done.stdout)
    assert (told["schema"], told["basis"], told["merged"]) == ("warpwright.tune/1", "predicted", None)
    assert "nothing to merge" in told["refusal"]
    assert {(row["settings"]["TIMES"], row["verdict"]) for row in told["settings"]} == {(1, "holds"), (3, "holds")}


@pytest.mark.parametrize(
    ("source", "words", "said"),
    [
        ("int x;\n", (), "has no tunable"),
        ("// tune: BLOCK = 64\n", (), "BLOCK is never set"),
        (KERNEL, ("--dispatch", "bundle:trip"), "must be here"),
        (KERNEL, ("--dispatch", "moon"), "no place to run"),
        (KERNEL, ("--gpu", "abacus"), "abacus"),
    ],
)
def test_wrong_use_is_reported_in_a_sentence(source: str, words: tuple[str, ...], said: str) -> None:
    Path("k.cu").write_text(source)
    done = tuned(*words)
    assert (done.exit_code, said in done.output) == (2, True), done.output
    assert not Path("k.tuned.cu").exists()


def test_a_kernel_that_is_wrong_with_every_setting_has_no_best() -> None:
    Path("k.cu").write_text(KERNEL.replace("* 2.0f", "* 3.0f"))
    done = tuned("--dispatch", "predict")
    assert (done.exit_code, "no setting was found right" in done.output) == (3, True), done.output
