"""Mistakes of new users with `optimize`: one clear sentence each, the right exit code, and no lost records."""

from __future__ import annotations

import shutil
import subprocess
import sys
from pathlib import Path

import pytest
from typer.testing import CliRunner, Result

from warpwright.archive.opening import open_archive
from warpwright.cli.main import app
from warpwright.models.clock import SystemClock

sys.path.insert(0, str(Path(__file__).parents[1] / "unit" / "models"))
from openai_server import OpenAIServer


@pytest.fixture(autouse=True)
def at_home(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    for name in ("ANTHROPIC_API_KEY", "OPENAI_API_KEY", "GEMINI_API_KEY", "GOOGLE_API_KEY"):
        monkeypatch.delenv(name, raising=False)


def optimize(*words: str, task: str = "llama_rmsnorm") -> Result:
    done = CliRunner().invoke(app, ["optimize", task, *words, "--archive", "a.db", "--no-composer"])
    assert "Traceback" not in done.output
    return done


@pytest.mark.parametrize(
    ("words", "said"),
    [
        (("--model", "anthropic:claude-x"), "ANTHROPIC_API_KEY"),
        (("--model", "openai:gpt-x"), "OPENAI_API_KEY"),
        (("--model", "gpt-x"), "names no provider"),
        (("--model", "antropic:x"), "did you mean anthropic"),
        (("--model", "openai:x@localhost:8000"), "http://"),
        (("--model", "mailbox:box", "--budget", "0"), "budget of $0"),
        (("--model", "mailbox:box", "--budget", "1"), "price of mailbox:box is not known"),
        (("--model", "mailbox:box", "--dispatch", "moon"), "no place to run"),
        (("--model", "replay:nothing.jsonl"), "nothing.jsonl"),
        (("--model", "mailbox:box", "--start", "nothing.cu"), "nothing.cu cannot be read"),
        (("--model", "mailbox:box", "--forward", "nothing.cu"), "nothing.cu cannot be read"),
        (("--model", "mailbox:box", "--output", "no/such/best.cu"), "cannot be kept in no/such/best.cu"),
        ((), "there is no author of kernels; give a model"),
        (("--resume", "abc"), "leave TASK out"),
    ],
)
def test_wrong_use_is_reported_before_a_run_is_created(words: tuple[str, ...], said: str) -> None:
    done = optimize(*words)
    assert (done.exit_code, said in done.output) == (2, True), done.output
    with open_archive("a.db") as archive:
        assert archive.runs() == ()


def test_an_unknown_task_and_an_unknown_run_are_named() -> None:
    assert "did you mean" in optimize("--model", "mailbox:box", task="llama_rmsnrom").output
    resume = ["optimize", "--resume", "abc", "--archive", "a.db"]
    done = CliRunner().invoke(app, resume)
    assert (done.exit_code, "there is no archive" in done.output) == (2, True)
    open_archive("a.db").close()
    done = CliRunner().invoke(app, resume)
    assert (done.exit_code, "abc" in done.output) == (2, True)


def test_a_function_that_needs_a_model_is_reported_at_once() -> None:
    Path("odd.py").write_text("import torch\n\n\ndef picks(x):\n    return torch.nonzero(x)\n")
    words = ["optimize", "odd.py:picks", "--input", "8,8", "--archive", "a.db", "--dispatch", "predict"]
    done = CliRunner().invoke(app, words)
    assert done.exit_code == 2, done.output
    assert "without a model picks:forward cannot be written" in done.output
    assert "--model" in done.output
    with open_archive("a.db") as archive:
        assert archive.runs() == ()


def test_a_server_that_is_down_ends_the_run_with_its_address(monkeypatch: pytest.MonkeyPatch) -> None:
    waits: list[float] = []
    monkeypatch.setattr(SystemClock, "sleep", lambda self, seconds: waits.append(seconds))
    done = optimize("--model", "openai:writer@http://127.0.0.1:9/v1", "--dispatch", "predict")
    assert done.exit_code == 3, done.output
    assert "cannot be reached at http://127.0.0.1:9/v1" in done.output
    assert "--resume" in done.output
    assert len(waits) == 5, "six attempts"


FULL_DISK = 'mount -t tmpfs -o size=3m none "$0" && exec "$@"'


def test_a_full_disk_ends_the_run_with_a_sentence(tmp_path: Path) -> None:
    disk = tmp_path / "disk"
    disk.mkdir()
    before = ["unshare", "-rm", "sh", "-c", FULL_DISK, str(disk)]
    if not shutil.which("unshare") or subprocess.run([*before, "true"], capture_output=True).returncode:
        pytest.skip("this machine lets nobody mount a disk of their own")
    with OpenAIServer(always="words " * 500_000) as server:
        command = [sys.executable, "-c", "from warpwright.cli.main import main; main()", "optimize", "llama_rmsnorm"]
        options = ["--model", server.spec("writer"), "--no-composer", "--dispatch", "predict"]
        ran = subprocess.run(
            [*before, *command, *options, "--archive", str(disk / "a.db")], capture_output=True, text=True, timeout=500
        )
    assert ran.returncode == 4, ran.stderr
    said = ran.stderr.strip().splitlines()[-1]
    assert said.startswith("warpwright: archive")
    assert "full" in said
    assert "acknowledged records are kept" in said
    assert "Traceback" not in ran.stderr


@pytest.mark.parametrize("behaviour", ["wrong_key", "unknown_model"])
def test_a_server_that_refuses_ends_the_run_with_its_reason(behaviour: str) -> None:
    with OpenAIServer() as server:
        for _ in range(8):
            getattr(server, behaviour)()
        done = optimize("--model", server.spec("writer"), "--allow-unpriced", "--dispatch", "predict")
        assert len(server.requests) < 8
    assert done.exit_code == 3, done.output
    assert {"wrong_key": "no such key", "unknown_model": "no such model"}[behaviour] in done.output
    assert "--resume" in done.output


def test_a_model_that_never_writes_code_ends_the_run() -> None:
    with OpenAIServer(always="I only talk about the weather.") as server:
        done = optimize("--model", server.spec("writer"), "--allow-unpriced", "--dispatch", "predict")
        asked = len(server.requests)
    assert done.exit_code == 3, done.output
    assert asked == 20, "ten attempts, each asked once more"
    assert "attempts" in done.output
