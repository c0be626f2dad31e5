"""Beyond plain kernels: clusters, operations of torch between kernels, samples of blocks, truths from the store."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from warpwright.core.candidate import Candidate
from warpwright.core.records.evidence import Verdict
from warpwright.core.task import Task
from warpwright.emulate.emulating import emulate
from warpwright.emulate.truths import Truths
from warpwright.oracle.compare.results import same_bits
from warpwright.oracle.inputs.draws import check_draws
from warpwright.oracle.truth import expected as truth
from warpwright.oracle.truth.reference import tensors_in
from warpwright.seal.cache import Store
from warpwright.verify.library import execute_on_cpu

pytestmark = pytest.mark.timeout(600)

Find = Callable[[str], Any]
GRID_OF_ROWS = "const int row = blockIdx.x;"
ROLES = (
    "#include <cooperative_groups.h>\n#include <cuda/pipeline>\n|"
    "__shared__ cuda::pipeline_shared_state<cuda::thread_scope_block, 2> state;"
    "auto role = threadIdx.x < 32 ? cuda::pipeline_role::producer : cuda::pipeline_role::consumer;"
    "auto pipe = cuda::make_pipeline(cooperative_groups::this_thread_block(), &state, role); (void)pipe;"
)


@pytest.mark.parametrize("name", ["layernorm_cluster_dims", "softmax_cluster_launch"])
def test_clusters_hold(name: str, specimen: Find, store: Store) -> None:
    one = specimen(name)
    found = emulate(one.task, one.candidate, one.cases, store)
    assert found.verdict is Verdict.HOLDS, (found.reason, found.counterexample)


def test_a_missing_wait_of_a_cluster_is_found(specimen: Find, store: Store) -> None:
    one = specimen("layernorm_cluster_dims")
    wrong = one.source.replace("  cluster.sync();\n", "", 1)
    assert wrong != one.source
    found = emulate(one.task, Candidate(source=wrong), one.cases, store)
    assert found.verdict is Verdict.REFUTED, found.reason


@pytest.mark.parametrize("name", ["conv_relu_pool_library", "unet_conv2d_backward_library"])
def test_operations_of_torch_are_carried_out_where_they_are_known(name: str, specimen: Find, store: Store) -> None:
    one = specimen(name)
    found = emulate(one.task, one.candidate, one.cases, store, execute_on_cpu)
    assert found.verdict is Verdict.HOLDS, (found.reason, found.counterexample)


def test_operations_of_torch_are_undecided_without_torch(specimen: Find, store: Store) -> None:
    one = specimen("conv_relu_pool_library")
    found = emulate(one.task, one.candidate, one.cases, store)
    assert found.verdict is Verdict.UNDECIDED
    assert found.reason is not None
    assert "library at::" in found.reason


def test_a_sample_of_blocks_is_compared_where_it_wrote(specimen: Find, store: Store) -> None:
    one = specimen("softmax_shared_tree")
    right = emulate(one.task, one.candidate, one.cases, store, blocks=2)
    assert right.verdict is Verdict.HOLDS, (right.reason, right.counterexample)
    whole = emulate(one.task, one.candidate, one.cases, store)
    assert right.counters["blocks"] <= whole.counters["blocks"]
    text = one.source.replace("local_sum += expf", "local_sum += 1.5f * expf")
    assert text != one.source
    wrong = emulate(one.task, Candidate(source=text), one.cases, store, blocks=2)
    assert wrong.verdict is Verdict.REFUTED, wrong.reason


@pytest.mark.parametrize(
    ("name", "why"), [("cumsum_three_kernels", "later launch"), ("embedding_backward_atomic", "atomic")]
)
def test_a_sample_that_is_not_valid_says_so(name: str, why: str, specimen: Find, store: Store) -> None:
    one = specimen(name)
    found = emulate(one.task, one.candidate, one.cases, store, blocks=2)
    assert found.verdict is Verdict.UNDECIDED, found.counterexample
    assert found.reason is not None
    assert why in found.reason


@pytest.mark.parametrize(
    "use",
    [
        "#include <curand_kernel.h>\n|curandState state; curand_init(1, 2, 3, &state);",
        "#include <cuda/ptx>\n|cuda::ptx::cp_async_bulk_commit_group();",
        '|asm volatile("barrier.cluster.arrive.release.aligned;");',
        '|asm volatile("barrier.cluster.wait.acquire.aligned;");',
        "#include <cooperative_groups.h>\n|cooperative_groups::this_cluster().barrier_arrive();",
        ROLES,
    ],
)
def test_what_has_no_meaning_here_is_undecided(use: str, specimen: Find, store: Store) -> None:
    one = specimen("softmax_shared_tree")
    header, statement = use.split("|")
    assert GRID_OF_ROWS in one.source
    source = header + one.source.replace(GRID_OF_ROWS, f"{GRID_OF_ROWS} {statement}")
    found = emulate(one.task, Candidate(source=source), one.cases, store)
    assert found.verdict is Verdict.UNDECIDED
    assert found.reason is not None
    assert "unsupported" in found.reason


@pytest.fixture
def counted(monkeypatch: pytest.MonkeyPatch) -> list[str]:
    """The draws whose truth was computed."""
    made: list[str] = []

    def expectations(task: Task, draw: Any, *given: Any) -> Any:
        made.append(draw.case.name)
        return truth.expectations(task, draw, *given)

    monkeypatch.setattr("warpwright.emulate.truths.expectations", expectations)
    return made


def test_a_truth_is_computed_once(specimen: Find, tmp_path: Path, counted: list[str]) -> None:
    task = specimen("layernorm_two_pass").task
    draw = check_draws(task)[0]
    store = Store(root=tmp_path)
    first, second = (Truths(task=task, store=store).of(draw) for _ in range(2))
    assert len(counted) == 1
    assert [(e.name, e.spec, e.compare, e.independent, e.slack) for e in first.expected] == [
        (e.name, e.spec, e.compare, e.independent, e.slack) for e in second.expected
    ]
    for one, other in zip(first.expected, second.expected, strict=True):
        assert same_bits(one.value, other.value)
        assert one.spread is not None
        assert other.spread is not None
        assert same_bits(one.spread, other.spread)
    pairs = zip(tensors_in(first.stage.given.arguments), tensors_in(second.stage.given.arguments), strict=True)
    assert all(same_bits(one, other) for one, other in pairs)


def test_a_truth_that_hangs_on_other_files_is_not_kept(specimen: Find, tmp_path: Path, counted: list[str]) -> None:
    task = specimen("layernorm_two_pass").task
    reference = replace(task.reference, source=f"import json\n{task.reference.source}")
    for _ in range(2):
        Truths(task=replace(task, reference=reference), store=Store(root=tmp_path)).of(check_draws(task)[0])
    assert len(counted) == 2


def test_a_damaged_truth_is_computed_again(specimen: Find, tmp_path: Path, counted: list[str]) -> None:
    task, store = specimen("layernorm_two_pass").task, Store(root=tmp_path)
    draw = check_draws(task)[0]
    Truths(task=task, store=store).of(draw)
    (kept,) = tmp_path.glob("entries/*/*-truth/truth")
    kept.write_bytes(kept.read_bytes()[:-1])
    Truths(task=task, store=store).of(draw)
    assert len(counted) == 2
