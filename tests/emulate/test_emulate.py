"""The library call: correct kernels hold in every order, wrong ones are refuted with a line and a reason."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from typing import Any

import pytest
from mutation.survey import Fate, Survey

from warpwright.core.candidate import Candidate
from warpwright.core.errors import UsageError
from warpwright.core.records.evidence import Verdict
from warpwright.emulate.emulating import emulate
from warpwright.emulate.program.calls import EmulatedCall, arena_of
from warpwright.faults.mutants import few_of_each_kind
from warpwright.seal.cache import Store
from warpwright.verify.emulate import EmulateRung
from warpwright.verify.ladder import climb

# Whichever comes first on a machine compiles the runtime as well.
pytestmark = pytest.mark.timeout(600)

Find = Callable[[str], Any]

# One for each way in which a kernel can be unlike the others: direction, type, vectors, atomics, groups, mutation.
SOUND = (
    "adamw_pointer_table",
    "add_rmsnorm_bf162",
    "argmax_warp_pairs",
    "cross_entropy_atomic",
    "cumsum_three_kernels",
    "embedding_backward_atomic",
    "layernorm_grid_sync",
    "linear_training_pair",
    "matmul_split_k",
    "rmsnorm_half2",
    "rope_cache_append",
    "softmax_cooperative_groups",
    "softmax_online_warp",
    "swiglu_float4_tail",
)
WRONG = {
    "a barrier": ("= v;\n    __syncthreads();", "= v;\n", "race"),
    "a bound": ("i < n; i += kBlock) sum", "i <= n; i += kBlock) sum", "out-of-bounds"),
    "the epsilon": ("/ n + eps", "/ n", None),
}


@pytest.mark.parametrize("name", SOUND)
def test_a_sound_kernel_holds(name: str, specimen: Find, store: Store) -> None:
    one = specimen(name)
    found = emulate(one.task, one.candidate, one.cases, store)
    assert found.verdict is Verdict.HOLDS, (found.reason, found.counterexample)
    assert set(found.cases) >= {case.name for case in one.cases}
    assert found.runs > len(one.cases)


@pytest.mark.parametrize("lacking", WRONG)
def test_a_wrong_kernel_is_refuted(lacking: str, specimen: Find, store: Store) -> None:
    text, instead, kind = WRONG[lacking]
    one = specimen("layernorm_two_pass")
    wrong = one.source.replace(text, instead)
    assert wrong != one.source
    found = emulate(one.task, Candidate(source=wrong), one.cases, store)
    assert found.verdict is Verdict.REFUTED, found.reason
    assert found.counterexample is not None
    assert found.counterexample.case in {case.name for case in one.cases}
    if kind is not None:
        assert found.counterexample.kind == kind
        assert found.counterexample.line is not None


@pytest.mark.parametrize("barrier", ["  __syncthreads();\n", ""], ids=["right", "wrong"])
def test_it_says_the_same_twice(barrier: str, specimen: Find, store: Store) -> None:
    one = specimen("softmax_shared_tree")
    candidate = Candidate(source=one.source.replace("  __syncthreads();\n", barrier, 1))
    first, second = (emulate(one.task, candidate, one.cases, store) for _ in range(2))
    assert first == second
    assert first.counters
    assert first.verdict is (Verdict.HOLDS if barrier else Verdict.REFUTED)


def test_what_the_emulator_lacks_is_undecided(specimen: Find, store: Store) -> None:
    one = specimen("softmax_shared_tree")
    with_wgmma = one.source.replace(
        "  const int row = blockIdx.x;", '  asm volatile("wgmma.fence.sync.aligned;"); const int row = blockIdx.x;'
    )
    found = emulate(one.task, Candidate(source=with_wgmma), one.cases, store)
    assert found.verdict is Verdict.UNDECIDED
    assert found.reason is not None
    assert "unsupported" in found.reason


def test_a_case_that_is_not_the_tasks_is_refused(specimen: Find, store: Store) -> None:
    """It would be left out in silence otherwise, and everything would hold on it."""
    one = specimen("softmax_shared_tree")
    with pytest.raises(UsageError, match="has no case elsewhere"):
        emulate(one.task, one.candidate, [replace(one.cases[0], name="elsewhere")], store)


def test_the_rung_passes_on_what_was_found(specimen: Find, store: Store) -> None:
    one = specimen("softmax_shared_tree")
    (evidence,) = climb(one.task, one.candidate, one.cases, [EmulateRung(store)]).evidence
    assert (evidence.rung, evidence.verdict) == ("emulate", Verdict.HOLDS)
    assert evidence.facts["runs"] > len(one.cases)
    assert evidence.seconds is not None


@pytest.mark.parametrize(
    ("name", "kind", "line", "argument"),
    [
        ("argmax_warp_pairs", "uninitialised shared", 28, "the value stored by the first thread is never read"),
        ("cumsum_block_scan", "dropped barrier", 32, "no two accesses are ordered by it alone"),
    ],
)
def test_a_mutant_is_equivalent_only_for_a_reason_that_was_checked(
    name: str, kind: str, line: int, argument: str, specimen: Find, store: Store
) -> None:
    one = specimen(name)
    survey = Survey(name, one.task, one.source, one.cases[:5], store)
    (mutant,) = [item for item in few_of_each_kind(one.source, 8) if (item.kind, item.line) == (kind, line)]
    (surveyed,) = survey.fates([mutant])
    assert surveyed.fate is Fate.EQUIVALENT
    assert argument in surveyed.why
    (unproved,) = survey.fates([replace(mutant, kind="other", witness=None)])
    assert unproved.fate is Fate.SURVIVED


def test_memory_lies_elsewhere_for_every_seed_and_where_a_gpu_has_it() -> None:
    calls = [EmulatedCall(entry="forward", arguments=(), contents=(), seed=seed) for seed in range(64)]
    places = [arena_of(call, attempt) for call in calls for attempt in (0, 1)]
    assert len(set(places)) > 100
    assert {place >> 40 for place in places} == {0x7E, 0x7F}
    assert places == [arena_of(call, attempt) for call in calls for attempt in (0, 1)]


def test_planted_bugs_are_found(specimen: Find, store: Store) -> None:
    """A sample; `make mutants` runs them all."""
    one = specimen("layernorm_two_pass")
    survey = Survey("layernorm_two_pass", one.task, one.source, one.cases, store)
    assert survey.original.verdict is Verdict.HOLDS
    fates = list(survey.fates(few_of_each_kind(one.source, 1)))
    assert len(fates) >= 9
    assert [(item.mutant.kind, item.why) for item in fates if item.fate is not Fate.REFUTED] == []
