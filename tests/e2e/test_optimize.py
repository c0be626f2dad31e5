"""A whole search with a real server on loopback and an archive: every kind of bad answer, then a correct one."""

from __future__ import annotations

import json
import sys
from pathlib import Path
from typing import Any

import pytest
from typer.testing import CliRunner

from warpwright.archive.opening import open_archive
from warpwright.cli.main import app
from warpwright.core.records.search import Call, Fate, Snapshot
from warpwright.evolve.fold import fold
from warpwright.models.clock import SystemClock

sys.path.insert(0, str(Path(__file__).parents[1] / "unit" / "models"))
from openai_server import USAGE, OpenAIServer

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


LAUNCH = next(line for line in TAIL.splitlines(keepends=True) if "<<<" in line)
RIGHT = kernel("if (i < n) out[i] = fmaxf(x[i], 0.0f) * 2.0f;", TAIL.replace(LAUNCH, LAUNCH * 3))
BETTER = kernel("if (i < n) out[i] = fmaxf(x[i], 0.0f) * 2.0f;")
OUT_OF_BOUNDS = kernel("out[i] = fmaxf(x[i], 0.0f) * 2.0f;")
NOT_COMPILING = kernel("if (i < n) out[i] = fmaxf(x[i], 0.0f) * 2.0f")
WRONG = kernel("if (i < n) out[i] = fmaxf(x[i], 0.0f);")
PRICE = (USAGE["prompt_tokens"] * 1.0 + USAGE["completion_tokens"] * 2.0) / 1e6


def fenced(source: str) -> str:
    return f"Here it is.\n\n```cuda\n{source}```\n"


@pytest.fixture
def reference(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> str:
    prices = tmp_path / "prices.toml"
    prices.write_text('[[price]]\nmodel = "openai:*@*"\ninput = 1.0\noutput = 2.0\n')
    monkeypatch.setenv("WARPWRIGHT_PRICES", str(prices))
    monkeypatch.chdir(tmp_path)
    (tmp_path / "ref.py").write_text(REFERENCE)
    return "ref.py:forward"


@pytest.fixture
def waits(monkeypatch: pytest.MonkeyPatch) -> list[float]:
    """Records waits between attempts without waiting."""
    waited: list[float] = []
    monkeypatch.setattr(SystemClock, "sleep", lambda self, seconds: waited.append(seconds))
    return waited


def optimize(*words: str) -> tuple[int, dict[str, Any], str]:
    always = ("--archive", "a.db", "--json", "--dispatch", "predict", "--no-composer", "--seed", "5")
    done = CliRunner().invoke(app, ["optimize", *words, *always])
    return done.exit_code, json.loads(done.stdout) if done.stdout.startswith("{") else {}, done.output


def remembered() -> tuple[Snapshot, tuple[Call, ...]]:
    with open_archive("a.db") as archive:
        (run,) = archive.runs()
        return fold(run, archive.log(run.id)), archive.records(run.id, Call)


@pytest.mark.parametrize("stream", [False, True], ids=["whole", "streamed"])
def test_a_search_survives_every_bad_answer_and_finds_a_better_kernel(
    reference: str, waits: list[float], stream: bool
) -> None:
    with OpenAIServer(always=fenced(BETTER)) as server:
        server.rate_limited(retry_after="17").failing(500).slow().length("```cuda\nint x")
        server.truncated_json().refusal()
        server.ok("I would rather not write code.").ok(f"```cuda\n{RIGHT}")
        server.ok(fenced(NOT_COMPILING)).ok(fenced(OUT_OF_BOUNDS)).ok(fenced(WRONG)).ok(fenced(RIGHT))
        code, told, shown = optimize(
            reference, "--input", "64,33", "--model", server.spec("writer"), "--budget", "2", "--generations", "1",
            "--proposals", "2", "--evaluate", "2", "--output", "best.cu", "--timeout", "5",
            "--stream" if stream else "--no-stream",
        )  # fmt: skip
    assert code == 0, shown
    assert [bool(asked.body.get("stream")) for asked in server.requests] == [stream] * len(server.requests)
    assert any(wait >= 17 for wait in waits), "never sooner than the server asks"
    snapshot, calls = remembered()
    with open_archive("a.db") as archive:
        assert archive.candidate(told["best"]["candidate"]).source == BETTER
    assert Path("best.cu").read_text() == BETTER
    fates = [member.fate for member in snapshot.members]
    assert fates[:8] == [*[Fate.UNREADABLE] * 4, *[Fate.REFUTED] * 3, Fate.IMPROVED], [
        m.issue for m in snapshot.members
    ]
    _costs_are_right(server, snapshot, calls)
    assert told["spent"]["usd"] == pytest.approx(snapshot.spent.usd)


def _costs_are_right(server: OpenAIServer, snapshot: Snapshot, calls: tuple[Call, ...]) -> None:
    """The rate limit and status 500 cost nothing. The cost of the late and of the invalid answer is unknown."""
    priced = len(server.requests) - 4
    assert snapshot.spent.usd == pytest.approx(priced * PRICE)
    assert snapshot.spent.unpriced == 2
    assert len(calls) == priced + 2
    failed = [call for call in calls if call.error is not None]
    assert [call.cost_usd for call in failed] == [None, pytest.approx(PRICE), None, pytest.approx(PRICE)]
    assert ["no answer within" in failed[0].error, "largest length" in failed[1].error] == [True, True]
    assert snapshot.spent.tokens == priced * USAGE["total_tokens"]


def test_no_more_requests_per_minute_than_allowed(reference: str, waits: list[float]) -> None:
    with OpenAIServer() as server:
        for _ in range(6):
            server.ok("I only talk about the weather.")
        server.wrong_key()
        code, _, shown = optimize(reference, "--input", "8,8", "--model", server.spec(), "--per-minute", "5")
        assert len(server.requests) == 7
    assert code == 3, shown
    assert len([wait for wait in waits if wait > 10]) == 2, "all but the first five wait for their minute"


def test_a_resumed_run_subtracts_the_possible_cost_of_late_answers(reference: str, waits: list[float]) -> None:
    with OpenAIServer() as server:
        for _ in range(6):
            server.slow()
        words = ("--input", "8,8", "--model", server.spec(), "--budget", "0.5", "--timeout", "2")
        code, told, shown = optimize(reference, *words)
        assert code == 3, shown
        asked = len(server.requests)
        assert (told["spent"]["usd"], told["spent"]["unpriced"]) == (0.0, 6)
        again = CliRunner().invoke(app, ["optimize", "--resume", told["run"], "--archive", "a.db"])
        assert len(server.requests) == asked, "another question might pass the budget, so nobody asks it"
    assert again.exit_code == 3
    assert "could pass the budget" in again.output
