"""Sources that attack whoever compiles or runs them: each ends as a clear refutation and leaves nothing behind.

The first line of each file names the kinds of refutation it may end in.
"""

from __future__ import annotations

import re
from pathlib import Path

import pytest

from warpwright.core.candidate import Candidate
from warpwright.core.evidence import Verdict
from warpwright.core.sealed import Sealed
from warpwright.seal import capture, device, sandbox, toolchain
from warpwright.seal.cache import Store
from warpwright.seal.refusal import Refusal
from warpwright.seal.sealing import seal
from warpwright.tasks.find import load

FILES = sorted((Path(__file__).parents[2] / "corpus" / "hostile").glob("*.cu"))
SHORT = sandbox.Limits(cpu_s=10.0, wall_s=20.0, memory_bytes=2 << 30, processes=32, file_bytes=64 << 20)
pytestmark = pytest.mark.skipif(toolchain.nvcc() is None, reason="no nvcc on this machine")


@pytest.mark.parametrize("path", FILES, ids=lambda path: path.stem)
def test_it_is_refuted_and_leaves_nothing(path: Path, store: Store, monkeypatch: pytest.MonkeyPatch) -> None:
    for place, name in ((capture, "RUN_LIMITS"), (capture, "COMPILE_LIMITS"), (device, "LIMITS")):
        monkeypatch.setattr(place, name, SHORT)
    source = path.read_text()
    expected = re.match(r"// expect: (.+)", source)
    assert expected
    kinds = re.split(r"\s*\|\s*", expected[1].strip())
    task = load("modern/swiglu:forward")[0]
    cases = [case for case in task.cases if case.dtype == "fp32"][:2]
    outcome = seal(task, Candidate(source=source), cases, store)
    assert (found := _kind(outcome)) in kinds, f"{found}: {outcome}"
    assert not list((store.root / "staging").iterdir())


def _kind(outcome: Sealed | Refusal) -> str:
    """How it ended; an attack on what comes after the last call meets nobody, and its plan is as good as any."""
    if isinstance(outcome, Sealed):
        return "sealed"
    assert outcome.verdict is Verdict.REFUTED, outcome.reason
    assert outcome.counterexample is not None
    assert "\n" not in outcome.counterexample.message
    return outcome.counterexample.kind
