"""Triton kernels in Python candidates: recorded and sealed without a GPU, and checked tile by tile."""

from __future__ import annotations

import pytest

from warpwright import languages
from warpwright.core.candidate import Candidate
from warpwright.core.launch.plan import Launch, Origin
from warpwright.core.launch.sealed import Sealed
from warpwright.core.records.evidence import Verdict
from warpwright.core.task import Case, Output, Reference, Role, Task, TensorArg
from warpwright.emulate.emulation import Emulation

pytest.importorskip("triton", reason="kernels are compiled by Triton")

CASES = tuple(Case(name=f"n{n}", role=Role.CHECK, dims={"N": n}, dtype="fp32") for n in (300, 512))
TASK = Task(
    name="doubled",
    arguments=(TensorArg(name="x", shape=("N",)),),
    outputs=(Output(name="y", shape=("N",)),),
    dtypes=("fp32",),
    cases=CASES,
    reference=Reference(source="def forward(x):\n    return (2 * x).relu()\n", entry="forward"),
)
SOURCE = """import torch
import triton
import triton.language as tl

@triton.autotune([triton.Config({"BLOCK": 256}, num_warps=2), triton.Config({"BLOCK": 128})], key=["n"])
@triton.jit
def double(x, y, n, by, BLOCK: tl.constexpr):
    i = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    mask = i < n
    tl.store(y + i, tl.load(x + i, mask=mask) * by, mask=mask)

@triton.jit
def clamp(x, y, n, BLOCK: tl.constexpr):
    i = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    tl.store(y + i, tl.maximum(tl.load(x + i, mask=i < n), 0.0), mask=i < n)

def forward(x):
    between, y = torch.empty_like(x), torch.empty_like(x)
    n = x.numel()
    double[lambda meta: (triton.cdiv(n, meta["BLOCK"]),)](x, between, n, 2.0)
    clamp[(triton.cdiv(n, 128),)](between, y, n, BLOCK=128)
    return y
"""


def sealed(source: str) -> Sealed:
    found = languages.of(_candidate(source)).seal(TASK, _candidate(source))
    assert isinstance(found, Sealed), found
    return found


def emulated(source: str) -> Emulation:
    return languages.of(_candidate(source)).emulate(TASK, _candidate(source))


def _candidate(source: str) -> Candidate:
    return Candidate(source=source, language="python")


def test_launches_become_a_plan_beside_one_cubin_for_each_kernel() -> None:
    found = sealed(SOURCE)
    plan = found.plan("n300", "forward")
    first, second = (node for node in plan.nodes if isinstance(node, Launch))
    assert (first.grid, first.block) == ((2, 1, 1), (64, 1, 1))
    assert (second.grid, second.block) == ((3, 1, 1), (128, 1, 1))
    assert [buffer.origin for buffer in plan.buffers] == [Origin.ARGUMENT, Origin.SCRATCH, Origin.SCRATCH]
    assert [(link.argument, link.buffer) for link in first.relocations] == [(0, 0), (1, 1)]
    assert first.arguments[2:4] == ((300).to_bytes(4, "little"), bytes.fromhex("00000040"))
    cubins = [found.cubin, *found.modules]
    # 300 is no multiple of 16, which Triton compiles for by itself.
    assert len(cubins) == len(found.kernels) == 4
    assert all(cubin is not None and cubin.startswith(b"\x7fELF") for cubin in cubins)
    assert [found.kernel(node.kernel).symbol for node in (first, second)] == ["double", "clamp"]


def test_a_right_kernel_holds() -> None:
    found = emulated(SOURCE)
    assert (found.verdict, found.reason) == (Verdict.HOLDS, None)
    assert set(found.cases) >= {"n300", "n512"}


def test_a_missing_mask_is_refuted_with_its_line() -> None:
    found = emulated(SOURCE.replace("* by, mask=mask)", "* by)"))
    assert found.verdict is Verdict.REFUTED
    assert found.counterexample is not None
    assert found.counterexample.kind == "out-of-bounds"
    assert found.counterexample.line == 10


def test_a_result_that_is_not_written_is_refuted() -> None:
    found = emulated(SOURCE.replace("(triton.cdiv(n, 128),)", "(n // 128,)"))
    assert found.counterexample is not None
    assert found.counterexample.kind == "unwritten"
