"""The whole line, from a real server on loopback to the archive: every way an answer can go wrong, then a right one."""

from __future__ import annotations

import json
import sys
from pathlib import Path
from typing import Any

import pytest
from typer.testing import CliRunner

from warpwright.archive.opening import open_archive
from warpwright.cli.main import app
from warpwright.core.search import Call, Fate
from warpwright.evolve.fold import fold

sys.path.insert(0, str(Path(__file__).parents[1] / "unit" / "models"))
from openai_server import OpenAIServer

REFERENCE = "import torch\n\n\ndef forward(x):\n    return torch.relu(x) * 2.0\n"
HEAD = "#include <torch/extension.h>\n"
TAIL = """
torch::Tensor forward(torch::Tensor x) {
  auto out = torch::empty_like(x);
  const int n = static_cast<int>(x.numel());
  scaled_relu<<<(n + 255) / 256, 256>>>(x.data_ptr<float>(), out.data_ptr<float>(), n);
  return out;
}
PYBIND11_MODULE(TORCH_EXTENSION_NAME, m) { m.def("forward", &forward); }
"""


def kernel(body: str, tail: str = TAIL) -> str:
    return (
        f"{HEAD}__global__ void scaled_relu(const float* x, float* out, int n) {{\n"
        f"  const int i = blockIdx.x * blockDim.x + threadIdx.x;\n  {body}\n}}\n{tail}"
    )


RIGHT = kernel("if (i < n) out[i] = fmaxf(x[i], 0.0f) * 2.0f;")
STRIDED = kernel("const int j = n - 1 - i;\n  if (i < n) out[j] = fmaxf(x[j], 0.0f) + fmaxf(x[j], 0.0f);")
OUT_OF_BOUNDS = kernel("out[i] = fmaxf(x[i], 0.0f) * 2.0f;")
NOT_COMPILING = kernel("if (i < n) out[i] = fmaxf(x[i], 0.0f) * 2.0f")
WRONG = kernel("if (i < n) out[i] = fmaxf(x[i], 0.0f);")


def fenced(source: str) -> str:
    return f"Here it is.\n\n```cuda\n{source}```\n"


@pytest.fixture
def reference(tmp_path: Path) -> Path:
    path = tmp_path / "ref.py"
    path.write_text(REFERENCE)
    return path


def optimize(tmp_path: Path, *words: str) -> tuple[int, dict[str, Any], str]:
    done = CliRunner().invoke(app, ["optimize", *words, "--archive", str(tmp_path / "a.db"), "--json"])
    return done.exit_code, json.loads(done.stdout) if done.stdout.startswith("{") else {}, done.output


def test_from_every_bad_answer_to_a_right_kernel(
    tmp_path: Path, reference: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    prices = tmp_path / "prices.toml"
    prices.write_text('[[price]]\nmodel = "openai:writer@*"\ninput = 1.0\noutput = 2.0\n')
    monkeypatch.setenv("WARPWRIGHT_PRICES", str(prices))
    monkeypatch.chdir(tmp_path)
    with OpenAIServer(always=fenced(STRIDED)) as server:
        server.rate_limited(retry_after="0").failing(500).ok("I would rather not write code.").ok(
            "```cuda\nint x;\n```"
        )
        server.ok(fenced(NOT_COMPILING)).ok(fenced(OUT_OF_BOUNDS)).ok(fenced(WRONG)).ok(fenced(RIGHT))
        code, told, shown = optimize(
            tmp_path, f"{reference}:forward", "--input", "64,33", "--model", server.spec("writer"), "--budget", "1",
            "--generations", "1", "--proposals", "2", "--evaluate", "2", "--dispatch", "predict", "--seed", "5",
            "--output", "best.cu", "--no-composer",
        )  # fmt: skip
    assert code == 0, shown
    with open_archive(tmp_path / "a.db") as archive:
        (run,) = archive.runs()
        snapshot = fold(run, archive.log(run.id))
        calls = archive.records(run.id, Call)
        best = archive.candidate(told["best"]["candidate"])
    assert (tmp_path / "best.cu").read_text() == best.source
    assert best.source in (RIGHT, STRIDED)
    fates = {member.fate for member in snapshot.members}
    assert {Fate.REFUTED, Fate.IMPROVED} <= fates
    assert snapshot.spent.usd == pytest.approx(
        sum(call.usage["input"] + 2 * call.usage["output"] for call in calls if call.reply) / 1e6
    )
    assert told["spent"]["usd"] == pytest.approx(snapshot.spent.usd)
