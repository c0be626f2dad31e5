"""Reductions over a dimension in front of others: right in the emulator, and coalesced by its counters."""

from __future__ import annotations

from functools import cache

import pytest

from warpwright.compose import plan as plan_of
from warpwright.compose.kernels.registry import chosen
from warpwright.compose.kernels.site import sites_of
from warpwright.core.candidate import Candidate
from warpwright.core.records.evidence import Verdict
from warpwright.core.task import Case, Output, Reference, Role, Task, TensorArg
from warpwright.verify.emulate import EmulateRung
from warpwright.verify.ladder import climb

KEPT = ("N", "H", "W")
RESULTS = {"total": "fp32", "least": "fp32", "at": "int64", "spread": "fp32", "logs": "fp32", "mirrored": "fp32"}
SOURCE = """
def forward(x):
    mirrored = (x * x.flip(3)).sum(1)
    return x.sum(1), x.amin(1), x.argmax(1), x.var(1), x.logsumexp(1), mirrored, x.softmax(1)
"""
TIMED = Case(name="timed", role=Role.TIME, dims={"N": 16, "C": 64, "H": 128, "W": 128})
PACKED = Case(name="packed", role=Role.CHECK, dims={"N": 2, "C": 19, "H": 4, "W": 36})
ODD = Case(name="odd", role=Role.CHECK, dims={"N": 3, "C": 5, "H": 3, "W": 7})
ONE = Case(name="one", role=Role.CHECK, dims={"N": 1, "C": 2, "H": 1, "W": 1})


@cache
def task() -> Task:
    results = [Output(name=name, shape=KEPT, dtype=dtype) for name, dtype in RESULTS.items()]
    return Task(
        name="channels",
        arguments=(TensorArg(name="x", shape=("N", "C", "H", "W"), dtype="fp32"),),
        outputs=(*results, Output(name="weights", shape=("N", "C", "H", "W"), dtype="fp32")),
        cases=(TIMED, PACKED, ODD, ONE),
        reference=Reference(source=SOURCE),
    )


def test_reductions_over_channels_share_one_strided_kernel() -> None:
    plan = plan_of(task())
    (site,) = sites_of(plan.entries[0])
    (choice,) = [chosen(site, plan.usual)]
    assert [strategy.name for strategy, _ in choice] == ["strided rows"]


@pytest.mark.timeout(900)  # Nothing here depends on time; a machine under load must not turn slow into wrong.
def test_reductions_over_channels_hold_at_odd_sizes() -> None:
    plan = plan_of(task())
    # Without the condition on their number, packs are run on small sizes too.
    source = plan.write(plan.default()).replace(" && columns >= 4224 * VEC", "")
    (evidence,) = climb(task(), Candidate(source=source), [PACKED, ODD, ONE], [EmulateRung()]).evidence
    assert evidence.verdict is Verdict.HOLDS, evidence.counterexample or evidence.reason
