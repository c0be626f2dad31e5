"""Other compilers: verdicts are those of g++, on planted bugs and their twins and on whole kernels."""

from __future__ import annotations

import re
import shutil
import struct
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest

from warpwright.core.candidate import Candidate
from warpwright.core.errors import OurFault
from warpwright.core.gpus.table import gpu_named
from warpwright.core.records.evidence import Verdict
from warpwright.core.signature import TensorSpec
from warpwright.emulate.emulating import emulate
from warpwright.emulate.program import build, compilers
from warpwright.emulate.program.build import program
from warpwright.emulate.program.calls import EmulatedCall, Order
from warpwright.emulate.program.running import run
from warpwright.emulate.report import Tier
from warpwright.seal.cache import Store

CLANG = next((name for name in ("clang++", *(f"clang++-{n}" for n in range(25, 15, -1))) if shutil.which(name)), None)
pytestmark = [
    pytest.mark.timeout(900),
    pytest.mark.skipif(CLANG is None, reason="no clang++ on this machine"),
]
PLANTS = Path(__file__).parent / "plants"
# Families of bugs. Wide accesses are not among them: clang splits them before they can be seen.
SAMPLE = ("races", "out_of_bounds", "uninitialised", "divergence", "atomics", "libraries")
X = TensorSpec(name="x", shape=(100,), stride=(1,), dtype="fp32")
VALUES = struct.pack("<100f", *((i * 37 % 101 - 50) / 8 for i in range(100)))
Find = Callable[[str], Any]


@pytest.fixture
def clang(monkeypatch: pytest.MonkeyPatch) -> Iterator[Callable[[], None]]:
    """Chooses it; before that, and afterwards, the compiler is the usual one."""

    def choose() -> None:
        assert CLANG is not None
        monkeypatch.setenv(compilers.CHOICE, CLANG)
        _forget()
        assert compilers.compiler().is_clang

    yield choose
    monkeypatch.undo()
    _forget()


def _forget() -> None:
    """Which compiler was chosen, and what hangs on it."""
    compilers.compiler.cache_clear()
    build._runtime_identity.cache_clear()
    build.identity.cache_clear()


def verdicts(file: str, store: Store) -> dict[str, str]:
    """Of every entry, over three orders: refuted, or how the runs ended."""
    text = (PLANTS / f"{file}.cu").read_text()
    source = f'{(PLANTS / "preamble.h").read_text()}\n#line 1 "kernel.cu"\n{text}'
    built = program(Candidate(source=source), store)
    plants = re.findall(r"^PLANT(?:_HOST)?\((\w+)", text, re.MULTILINE)
    names = [f"{plant}_{way}" for plant in plants for way in ("wrong", "right")]
    calls = [
        EmulatedCall(entry=name, arguments=(X,), contents=(VALUES,), order=o, seed=7) for name in names for o in Order
    ]
    ran = run(built, calls, gpu_named("h200"), store)
    said: dict[str, str] = {}
    for call, one in zip(calls, ran, strict=True):
        assert one.report is not None, (call.entry, one.ended)
        against = [item for item in one.report.findings if item.severity is not Tier.TOLERATED]
        before = said.get(call.entry, one.report.outcome)
        said[call.entry] = "refuted" if against or before == "refuted" else before
    return said


@pytest.mark.parametrize("file", SAMPLE)
def test_planted_bugs_and_their_twins_are_judged_alike(file: str, store: Store, clang: Callable[[], None]) -> None:
    usual = verdicts(file, store)
    clang()
    assert verdicts(file, store) == usual
    assert len(usual) >= 10
    assert set(usual.values()) == {"refuted", "ran"}


@pytest.mark.parametrize(
    ("name", "was", "became", "verdict"),
    [
        ("softmax_shared_tree", "", "", Verdict.HOLDS),
        ("rmsnorm_half2", "", "", Verdict.HOLDS),
        ("softmax_shared_tree", "  __syncthreads();\n", "", Verdict.REFUTED),
        ("softmax_shared_tree", "i < cols", "i <= cols", Verdict.REFUTED),
    ],
)
def test_kernels_are_judged_alike_and_twice_the_same(
    name: str, was: str, became: str, verdict: Verdict, specimen: Find, store: Store, clang: Callable[[], None]
) -> None:
    clang()
    one = specimen(name)
    candidate = Candidate(source=one.source.replace(was, became, 1))
    first, second = (emulate(one.task, candidate, one.cases[:4], store) for _ in range(2))
    assert first.verdict is verdict, (first.reason, first.counterexample)
    assert first == second
    assert first.counters


def test_a_compiler_that_is_not_there_is_named(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv(compilers.CHOICE, "no-such-compiler")
    with pytest.raises(OurFault, match="no-such-compiler"):
        compilers.chosen()
