"""Sources that attack whoever compiles or runs them: each ends as a clear refutation and leaves nothing behind.

The first line of each file names the kinds of refutation it may end in.
"""

from __future__ import annotations

import re
from pathlib import Path

import pytest

from warpwright.core.candidate import Candidate
from warpwright.core.launch.sealed import Sealed
from warpwright.core.records.evidence import Verdict
from warpwright.sandbox import run as sandbox
from warpwright.seal import toolchain
from warpwright.seal.cache import Store
from warpwright.seal.capture import program as capture
from warpwright.seal.device import nvcc as device
from warpwright.seal.refusal import Refusal
from warpwright.seal.sealing import seal
from warpwright.tasks.find import load

FILES = sorted((Path(__file__).parents[2] / "corpus" / "hostile").glob("*.cu"))
# What an honest kernel needs several times over, so that those who go on for ever do not hold up the others.
BRIEF = sandbox.Limits(cpu_s=2.0, wall_s=120.0, idle_s=1.0, memory_bytes=2 << 30, processes=32, file_bytes=64 << 20)
COMPILING = sandbox.Limits(cpu_s=5.0, wall_s=240.0, memory_bytes=2 << 30, processes=32, file_bytes=64 << 20)
pytestmark = pytest.mark.skipif(toolchain.nvcc() is None, reason="no nvcc on this machine")


@pytest.mark.parametrize("path", FILES, ids=lambda path: path.stem)
def test_it_is_refuted_and_leaves_nothing(path: Path, store: Store, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(capture, "RUN_LIMITS", BRIEF)
    monkeypatch.setattr(capture, "COMPILE_LIMITS", COMPILING)
    monkeypatch.setattr(device, "LIMITS", COMPILING)
    source = path.read_text()
    expected = re.match(r"// expect: (.+)", source)
    assert expected
    kinds = re.split(r"\s*\|\s*", expected[1].strip())
    task = load("modern/swiglu:forward")[0]
    cases = [case for case in task.cases if case.dtype == "fp32"][:2]
    if not any(kind.startswith("compile") for kind in kinds):
        # It is the host code that attacks, which nvcc would only make us wait for.
        monkeypatch.setattr(toolchain, "nvcc", lambda: None)
    outcome = seal(task, Candidate(source=source), cases, store)
    assert (found := _kind(outcome)) in kinds, f"{found}: {getattr(outcome, 'counterexample', None)}"
    assert not list((store.root / "staging").iterdir())


def _kind(outcome: Sealed | Refusal) -> str:
    """How it ended; an attack on what comes after the last call meets nobody, and its plan is as good as any."""
    if isinstance(outcome, Sealed):
        return "sealed"
    assert outcome.verdict is Verdict.REFUTED, outcome.reason
    assert outcome.counterexample is not None
    assert "\n" not in outcome.counterexample.message
    return outcome.counterexample.kind
