"""`--opinions` with a real server on loopback: opinions order the queue and skip candidates, but never refute or
accept.
"""

from __future__ import annotations

import json
import re
import sys
from pathlib import Path
from typing import Any

import pytest
from typer.testing import CliRunner

from warpwright.archive.opening import open_archive
from warpwright.cli.main import app
from warpwright.core.records.evidence import Dossier, Verdict
from warpwright.core.records.rungs import OPINION
from warpwright.core.records.search import Action, Call, Decision, Fate, Snapshot
from warpwright.evolve.fold import fold

sys.path.insert(0, str(Path(__file__).parents[1] / "unit" / "models"))
from openai_server import USAGE, OpenAIServer

REFERENCE = "import torch\n\n\ndef forward(x):\n    return torch.relu(x) * 2.0\n"
RIGHT = """#include <torch/extension.h>
__global__ void scaled_relu(const float* x, float* out, int n) {
  const int i = blockIdx.x * blockDim.x + threadIdx.x;
  // more
  if (i < n) out[i] = fmaxf(x[i], 0.0f) * 2.0f;
}
torch::Tensor forward(torch::Tensor x) {
  auto out = torch::empty_like(x);
  const int n = static_cast<int>(x.numel());
  scaled_relu<<<(n + 255) / 256, 256>>>(x.data_ptr<float>(), out.data_ptr<float>(), n);
  return out;
}
PYBIND11_MODULE(TORCH_EXTENSION_NAME, m) { m.def("forward", &forward); }
"""
# An instruction that the emulator does not know: nothing surer than an opinion can be had of these two.
OPEN = 'unsigned odd; asm("vabsdiff4.u32.u32.u32 %0, %1, %2, %3;" : "=r"(odd) : "r"(i), "r"(i), "r"(0));'
OLDER = RIGHT.replace("// more", f"{OPEN}\n  if (odd > 9999u) return;")
NEWER = RIGHT.replace("// more", f"{OPEN}\n  if (odd > 8888u) return;")


def written(body: dict[str, Any]) -> str:
    """Answers the first request with a correct kernel, then each of the two writers differently."""
    opening = "write a kernel" in body["messages"][0]["content"]
    source = RIGHT if opening else OLDER if body["model"] == "older" else NEWER
    return f"```cuda\n{source}```"


def judged(body: dict[str, Any]) -> str:
    """Gives only the older kernel a full vote."""
    prompt = body["messages"][0]["content"]
    about = re.findall(r"^BEGIN (\w+)$", prompt, re.MULTILINE)[0]
    verdict = "pass" if "9999u" in prompt else "fail"
    return json.dumps(
        {"about": about, "verdict": verdict, "confidence": 1.0, "reasons": [{"line": 5, "why": "I say so."}]}
    )


def optimize(monkeypatch: pytest.MonkeyPatch, folder: Path, opinion: Any) -> tuple[OpenAIServer, Any]:
    monkeypatch.chdir(folder)
    Path("ref.py").write_text(REFERENCE)
    Path("prices.toml").write_text('[[price]]\nmodel = "openai:*@*"\ninput = 1.0\noutput = 2.0\n')
    monkeypatch.setenv("WARPWRIGHT_PRICES", "prices.toml")

    def answer(body: dict[str, Any]) -> str:
        return opinion(body) if body["model"] == "judge" else written(body)

    with OpenAIServer(always=answer) as server:
        done = CliRunner().invoke(app, [
            "optimize", "ref.py:forward", "--input", "64,33", "--model", server.spec("older"), "--model",
            server.spec("newer"), "--opinions", server.spec("judge"), "--budget", "5", "--generations", "1",
            "--proposals", "2", "--evaluate", "1", "--dispatch", "predict", "--no-composer", "--seed", "7", "--output",
            "best.cu", "--archive", "a.db",
        ])  # fmt: skip
    return server, done


def remembered() -> tuple[Snapshot, tuple[Dossier, ...], tuple[Call, ...], list[tuple[str, ...]]]:
    with open_archive("a.db") as archive:
        (run,) = archive.runs()
        evaluated = [
            tuple(archive.candidate(id_).source for id_ in decision.candidates)
            for decision in archive.records(run.id, Decision)
            if decision.action is Action.EVALUATE
        ]
        snapshot = fold(run, archive.log(run.id))
        return snapshot, archive.records(run.id, Dossier), archive.records(run.id, Call), evaluated


def test_an_opinion_orders_the_queue_and_decides_nothing(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    server, done = optimize(monkeypatch, tmp_path, judged)
    assert done.exit_code == 0, done.output
    snapshot, dossiers, calls, evaluated = remembered()
    assert evaluated == [(RIGHT,), (OLDER, NEWER)], "without the opinion the newer one would have come first"
    assert [member.fate for member in snapshot.members] == [Fate.IMPROVED, Fate.UNDECIDED, Fate.UNDECIDED]
    thoughts = [item for dossier in dossiers for item in dossier.evidence if item.rung == OPINION]
    assert [item.verdict for item in thoughts] == [Verdict.UNDECIDED] * 3
    assert [item.skipped for item in thoughts] == [True, False, False], "what the emulator decided is not asked about"
    scores = [item.facts["score"] for item in thoughts[1:]]
    assert scores[0] > 0.5 > scores[1]
    assert Path("best.cu").read_text() == RIGHT, "an opinion makes nothing right"
    opinions = [call for call in calls if call.purpose.startswith("opinion")]
    assert len(opinions) == sum(asked.body["model"] == "judge" for asked in server.requests) > 0
    price = (USAGE["prompt_tokens"] + 2.0 * USAGE["completion_tokens"]) / 1e6
    assert snapshot.spent.usd == pytest.approx(len(server.requests) * price)


def test_unreadable_opinions_change_nothing(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    _, done = optimize(monkeypatch, tmp_path, lambda body: "I like it, or perhaps not.")
    assert done.exit_code == 0, done.output
    snapshot, dossiers, _, evaluated = remembered()
    assert evaluated == [(RIGHT,), (NEWER, OLDER)]
    assert [member.fate for member in snapshot.members] == [Fate.IMPROVED, Fate.UNDECIDED, Fate.UNDECIDED]
    assert not any(dossier.verdict is Verdict.REFUTED for dossier in dossiers)
    thoughts = [item for dossier in dossiers[1:] for item in dossier.evidence if item.rung == OPINION]
    assert all(item.skipped and "could not be read" in (item.reason or "") for item in thoughts)
