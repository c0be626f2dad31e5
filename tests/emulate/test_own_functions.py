"""Functions of a user's own: what was asked for is what is checked, and the verdict says how far it reaches."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from warpwright.core.candidate import Candidate
from warpwright.core.climb import Climb
from warpwright.core.launch.sealed import Sealed
from warpwright.core.records.evidence import Dossier, Verdict
from warpwright.core.task import Role, Task
from warpwright.seal.cache import Store
from warpwright.seal.sealing import seal
from warpwright.tasks import load
from warpwright.verify.coverage import gap
from warpwright.verify.emulate import EmulateRung
from warpwright.verify.ladder import climb_on
from warpwright.verify.own_task import TaskRung
from warpwright.verify.seal import SealRung

# Whichever comes first on a machine compiles the runtime as well.
pytestmark = pytest.mark.timeout(600)

REFERENCE = """
import torch

def total(x):
    return x.sum(-1)

def weights(x):
    return torch.softmax(x, -1)

def doubled(x):
    return x + x

def quantised(x):
    step = x.abs().amax(-1, keepdim=True).clamp(min=1e-6) / 127
    return (x / step).round().clamp(-127, 127).to(torch.int8)
"""
BINDING = """
PYBIND11_MODULE(TORCH_EXTENSION_NAME, m) { m.def("forward", &forward); }
"""
# One block for each row; STEP is how far a thread goes on, and MAXIMUM what is subtracted.
ROWS = """
#include <torch/extension.h>
__device__ float combined(float value, bool larger) {
  __shared__ float held[128];
  held[threadIdx.x] = value;
  __syncthreads();
  for (int half = 64; half; half /= 2) {
    if (threadIdx.x < half) {
      const float other = held[threadIdx.x + half];
      held[threadIdx.x] = larger ? fmaxf(held[threadIdx.x], other) : held[threadIdx.x] + other;
    }
    __syncthreads();
  }
  const float found = held[0];
  __syncthreads();
  return found;
}
"""
TOTAL = """
__global__ void total(const float* x, float* y, int n) {
  float sum = 0;
  for (int i = threadIdx.x; i < LENGTH; i += 128) sum += x[(size_t)blockIdx.x * n + i];
  sum = combined(sum, false);
  if (threadIdx.x == 0) y[blockIdx.x] = sum;
}
torch::Tensor forward(torch::Tensor x) {
  CHECKED
  auto y = torch::empty({x.size(0)}, x.options());
  const int n = x.size(1);
  total<<<x.size(0), 128>>>(x.data_ptr<float>(), y.data_ptr<float>(), n);
  return y;
}
"""
WEIGHTS = """
__global__ void weights(const float* x, float* y, int n) {
  x += (size_t)blockIdx.x * n, y += (size_t)blockIdx.x * n;
  float most = -INFINITY, sum = 0;
  for (int i = threadIdx.x; i < n; i += 128) most = fmaxf(most, x[i]);
  const float shift = MAXIMUM;
  for (int i = threadIdx.x; i < n; i += 128) sum += expf(x[i] - shift);
  sum = combined(sum, false);
  for (int i = threadIdx.x; i < n; i += 128) y[i] = expf(x[i] - shift) / sum;
}
torch::Tensor forward(torch::Tensor x) {
  auto y = torch::empty_like(x);
  weights<<<x.size(0), 128>>>(x.data_ptr<float>(), y.data_ptr<float>(), x.size(1));
  return y;
}
"""
DOUBLED = """
#include <torch/extension.h>
__global__ void few(const float* x, float* y, int n) {
  const int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < n) y[i] = 2 * x[i];
}
__global__ void many(const float* x, float* y, int n) {
  const int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < n) y[i] = 2 * x[i] + 1;
}
torch::Tensor forward(torch::Tensor x) {
  auto y = torch::empty_like(x);
  const int n = x.numel();
  (n > (1 << 21) ? many : few)<<<(n + 255) / 256, 256>>>(x.data_ptr<float>(), y.data_ptr<float>(), n);
  return y;
}
"""


def total(length: str = "n", checked: str = "") -> str:
    return ROWS + TOTAL.replace("LENGTH", length).replace("CHECKED", checked) + BINDING


def weights(maximum: str = "combined(most, true)") -> str:
    return ROWS + WEIGHTS.replace("MAXIMUM", maximum) + BINDING


@pytest.fixture(scope="module")
def reference(tmp_path_factory: pytest.TempPathFactory) -> Path:
    path = tmp_path_factory.mktemp("own") / "ref.py"
    path.write_text(REFERENCE)
    return path


def judged(task: Task, source: str, store: Store) -> Dossier:
    start = Climb(task=task, candidate=Candidate(source=source))
    return climb_on(start, [TaskRung(store), SealRung(store), EmulateRung(store)]).dossier


def facts(dossier: Dossier) -> dict[str, Any]:
    return dict(dossier.evidence[-1].facts)


def asked(reference: Path, name: str, sizes: str) -> Task:
    return load(f"{reference}:{name}", inputs=[sizes])[0]


def test_a_row_that_is_read_in_part_is_refuted_at_the_length_that_was_asked_for(reference: Path, store: Store) -> None:
    task = asked(reference, "total", "16,4096:fp32")
    wrong = judged(task, total("min(n, 1024)"), store)
    assert wrong.verdict is Verdict.REFUTED
    assert wrong.refutation is not None
    assert wrong.refutation.counterexample is not None
    assert wrong.refutation.counterexample.facts["dims"] == {"A": 16, "B": 4096}
    assert judged(task, total(), store).verdict is Verdict.HOLDS


def test_a_softmax_without_the_maximum_is_refuted(reference: Path, store: Store) -> None:
    task = asked(reference, "weights", "6,200:fp32")
    assert judged(task, weights("0"), store).verdict is Verdict.REFUTED
    assert judged(task, weights(), store).verdict is Verdict.HOLDS


def test_a_row_of_a_large_input_is_kept_whole_and_the_verdict_names_what_was_not_run(
    reference: Path, store: Store
) -> None:
    task = asked(reference, "total", "4096,200000:fp32")
    right = judged(task, total(), store)
    assert right.verdict is Verdict.HOLDS
    (stand_ins,) = facts(right)["not_run"].values()
    assert any("B200000" in name for name in stand_ins)
    assert judged(task, total("min(n, 65536)"), store).verdict is Verdict.REFUTED


def test_a_kernel_that_only_the_size_asked_for_launches_is_not_vouched_for(reference: Path, store: Store) -> None:
    task = asked(reference, "doubled", "8192,8192:fp32")
    found = judged(task, DOUBLED + BINDING, store)
    assert found.verdict is Verdict.UNDECIDED
    assert "launches many" in (found.evidence[-1].reason or "")


def test_a_kernel_that_does_something_else_at_its_real_size_is_refuted_by_a_few_of_its_blocks(
    reference: Path, store: Store
) -> None:
    task = asked(reference, "doubled", "1536,1024:fp32")
    same = DOUBLED.replace("(n > (1 << 21) ? many : few)", "few") + BINDING
    split = same.replace("y[i] = 2 * x[i];", "y[i] = 2 * x[i] + (n > 1500000);")
    assert split != same
    found = judged(task, split, store)
    assert found.verdict is Verdict.REFUTED
    assert found.refutation is not None
    assert found.refutation.counterexample is not None
    assert found.refutation.counterexample.facts["dims"] == {"A": 1536, "B": 1024}
    right = judged(task, same, store)
    assert right.verdict is Verdict.HOLDS
    assert list(facts(right)["sampled"]) == [task.cases_of(Role.TIME)[0].name]


def test_sizes_that_the_host_code_excludes_are_not_held_against_it(reference: Path, store: Store) -> None:
    task = asked(reference, "total", "8,256:fp32")
    found = judged(task, total(checked='TORCH_CHECK(x.size(1) == 256, "rows of 256");'), store)
    assert found.verdict is Verdict.HOLDS
    assert facts(found)["beyond"] is None
    assert facts(found)["rejected"] == []


def test_what_is_wrong_for_other_sizes_is_a_second_statement(reference: Path, store: Store) -> None:
    task = asked(reference, "total", "8,256:fp32")
    found = judged(task, total("n / 2 * 2"), store)
    assert found.verdict is Verdict.HOLDS
    assert facts(found)["beyond"]["facts"]["dims"]["B"] % 2 == 1
    assert judged(task.in_general(), total("n / 2 * 2"), store).verdict is Verdict.REFUTED


def test_what_nothing_stands_for_is_a_gap(reference: Path) -> None:
    task = asked(reference, "total", "4096,200000:fp32")
    assert "no size that could stand for it" in (gap(task, None, ()) or "")


def test_a_case_that_is_checked_and_timed_is_sealed_once(reference: Path, store: Store) -> None:
    task = asked(reference, "total", "8,256:fp32").in_general()
    sealed = seal(task, Candidate(source=total() + "// sealed once\n"), store=store)
    assert isinstance(sealed, Sealed)
    assert sorted(plan.case for plan in sealed.plans) == sorted({case.name for case in task.cases})
