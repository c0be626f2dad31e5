"""`prepare`: planned like any other entry, and its results stand in `forward` where the weights stood."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import pytest

from warpwright.core.calls import PREPARE
from warpwright.core.launch.plan import Launch
from warpwright.core.launch.sealed import Sealed
from warpwright.core.records.evidence import Verdict
from warpwright.core.task import Case, Direction, Output, Reference, Role, ScalarArg, Task, TensorArg
from warpwright.seal import toolchain
from warpwright.seal.refusal import Refusal

needs_nvcc = pytest.mark.skipif(toolchain.nvcc() is None, reason="no nvcc on this machine")
TASK = Task(
    name="affine",
    arguments=(
        TensorArg(name="x", shape=("R", "C")),
        TensorArg(name="gain", shape=("C",)),
        ScalarArg(name="shift", values=(1,)),
        TensorArg(name="bias", shape=("C",)),
        ScalarArg(name="eps", values=(0.5,)),
    ),
    outputs=(Output(name="y", shape=("R", "C")),),
    prepares=("gain", "bias", "eps"),
    cases=(
        Case(name="small", role=Role.CHECK, dims={"R": 2, "C": 3}, scalars={"shift": 1, "eps": 0.5}),
        Case(name="large", role=Role.TIME, dims={"R": 300, "C": 1000}, scalars={"shift": 1, "eps": 0.5}),
    ),
    reference=Reference(source=""),
)
SOURCE = """#include <torch/extension.h>
__global__ void pack(const float* gain, const float* bias, float2* both, float eps, int n) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < n) both[i] = make_float2(gain[i] + eps, bias[i]);
}
__global__ void apply(const float* x, const float2* both, float* y, int rows, int n, int64_t shift) {
  for (int i = threadIdx.x; i < rows * n; i += blockDim.x) y[i] = x[i] * both[i % n].x + both[i % n].y + shift;
}
@PREPARE@
torch::Tensor forward(torch::Tensor x, torch::Tensor both, torch::Tensor workspace, int64_t shift) {
  auto y = torch::empty_like(x);
  apply<<<1, 256>>>(x.data_ptr<float>(), (float2*)both.data_ptr<float>(), y.data_ptr<float>(), x.size(0),
                    both.size(0), shift);
  return y;
}
PYBIND11_MODULE(TORCH_EXTENSION_NAME, m) { m.def("forward", &forward); m.def("prepare", &prepare); }
"""
PREPARES = """std::vector<torch::Tensor> prepare(torch::Tensor gain, torch::Tensor bias, double eps) {
  auto both = torch::empty({gain.size(0), 2}, gain.options());
  int n = gain.numel();
  pack<<<(n + 255) / 256, 256>>>(gain.data_ptr<float>(), bias.data_ptr<float>(), (float2*)both.data_ptr<float>(),
                                 eps, n);
  @RETURN@
}"""


def written(result: str = "return {both, gain};") -> str:
    return SOURCE.replace("@PREPARE@", PREPARES).replace("@RETURN@", result)


@needs_nvcc
def test_both_entries_are_planned_for_every_case(sealing: Any) -> None:
    sealed = sealing(written(), of=TASK)
    assert isinstance(sealed, Sealed), sealed
    assert [(plan.entry, plan.case) for plan in sealed.plans] == [
        (PREPARE, "small"), (PREPARE, "large"), ("forward", "small"), ("forward", "large"),
    ]  # fmt: skip
    prepare, forward = sealed.preparation("large"), sealed.plan("large", "forward")
    assert prepare is not None
    assert [view.shape for view in prepare.arguments] == [(1000,), (1000,)]
    assert [view.shape for view in forward.arguments] == [(300, 1000), (1000, 2), (1000,)]
    assert [view.buffer for view in prepare.returns if view] == [2, 0]  # type: ignore[union-attr]
    launch = forward.nodes[0]
    assert isinstance(launch, Launch)
    assert {relocation.buffer for relocation in launch.relocations} == {0, 1, 3}


@needs_nvcc
def test_without_such_an_entry_forward_gets_the_weights(sealing: Any, source: Any, task: Any) -> None:
    sealed = sealing("// no prepare\n" + source(), of=replace(task(), prepares=("x",)))
    assert isinstance(sealed, Sealed), sealed
    assert sealed.preparation("small") is None


@needs_nvcc
def test_where_gradients_are_asked_for_it_counts_for_nothing(sealing: Any, source: Any, task: Any) -> None:
    text = source(bind='m.def("prepare", [](torch::Tensor x) { return x; });').replace(
        'm.def("forward"', 'm.def("backward"'
    )
    text = text.replace("forward(torch::Tensor x)", "forward(torch::Tensor g, torch::Tensor x)")
    sealed = sealing(text, of=replace(task(Direction.BACKWARD), prepares=("x",)))
    assert isinstance(sealed, Sealed), sealed
    assert {plan.entry for plan in sealed.plans} == {"backward"}


@needs_nvcc
@pytest.mark.parametrize(
    ("result", "verdict", "says"),
    [
        ("return {};", Verdict.REFUTED, "does not take the task's arguments"),
        ("return {both, torch::ones({3})};", Verdict.REFUTED, "not a device tensor (1)"),
        ("return {both, gain.slice(0, 1)};", Verdict.UNDECIDED, "starts within its buffer"),
        ('TORCH_CHECK(false, "not today"); return {};', Verdict.REFUTED, "not today"),
    ],
)
def test_what_prepare_gets_wrong_is_said(sealing: Any, result: str, verdict: Verdict, says: str) -> None:
    found = sealing(written(result), of=TASK)
    assert isinstance(found, Refusal)
    assert found.verdict is verdict
    assert says in (found.reason or (found.counterexample and found.counterexample.message) or "")


@needs_nvcc
def test_a_task_that_changes_its_arguments_cannot_tell(sealing: Any) -> None:
    found = sealing(written(), of=replace(TASK, mutates=("x",)))
    assert isinstance(found, Refusal)
    assert found.verdict is Verdict.UNDECIDED
