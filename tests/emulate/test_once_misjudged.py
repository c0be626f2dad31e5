"""Kernels whose verdict was wrong once: right ones that were refuted or undecided, and a wrong one that held."""

from __future__ import annotations

from pathlib import Path

import pytest

from warpwright.core.candidate import Candidate
from warpwright.core.climb import Climb
from warpwright.core.records.evidence import Dossier, Verdict
from warpwright.seal.cache import Store
from warpwright.tasks import load
from warpwright.verify.emulate import EmulateRung
from warpwright.verify.ladder import climb_on
from warpwright.verify.seal import SealRung

pytestmark = pytest.mark.timeout(600)

REFERENCE = "def positive(x):\n    return x.relu()\n\ndef total(x):\n    return x.sum(-1)\n"
BINDING = '\nPYBIND11_MODULE(TORCH_EXTENSION_NAME, m) { m.def("forward", &forward); }\n'

# The host code compares and prints options; the kernel compares and converts c10::Half.
GENERIC = """
#include <torch/extension.h>
template <typename T>
__global__ void positive(const T* x, T* y, int n) {
  const int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i >= n) return;
  const T zero = T(0);
  y[i] = x[i] > zero ? x[i] : zero;
}
torch::Tensor forward(torch::Tensor x) {
  if (x.options().device().is_cpu()) std::cout << "on a CPU: " << x.options() << std::endl;
  auto y = torch::empty_like(x);
  const int n = x.numel();
  AT_DISPATCH_FLOATING_TYPES_AND_HALF(x.scalar_type(), "positive", [&] {
    positive<scalar_t><<<(n + 127) / 128, 128>>>(x.data_ptr<scalar_t>(), y.data_ptr<scalar_t>(), n);
  });
  return y;
}
"""
# Eight halves move at once, between memory of the device, a register and shared memory.
WIDE = """
#include <torch/extension.h>
#include <cuda_fp16.h>
__global__ void positive(const half* x, half* y) {
  __shared__ half tile[64][8];
  const long first = (blockIdx.x * 64L + threadIdx.x) * 8;
  *reinterpret_cast<float4*>(tile[threadIdx.x]) = *reinterpret_cast<const float4*>(x + first);
  for (int i = 0; i < 8; ++i) {
    const float value = __half2float(tile[threadIdx.x][i]);
    tile[threadIdx.x][i] = __float2half(value > 0 ? value : 0);
  }
  *reinterpret_cast<float4*>(y + first) = *reinterpret_cast<float4*>(tile[threadIdx.x]);
}
torch::Tensor forward(torch::Tensor x) {
  auto y = torch::empty_like(x);
  positive<<<x.numel() / 512, 64>>>(reinterpret_cast<const half*>(x.data_ptr()), reinterpret_cast<half*>(y.data_ptr()));
  return y;
}
"""
# The last block of a row adds the parts, but the host starts fewer blocks than the kernel waits for.
LAST_BLOCK = """
#include <torch/extension.h>
__global__ void total(const float* x, float* parts, int* tickets, float* y, int n) {
  const int row = blockIdx.y, step = n / gridDim.x;
  float sum = 0;
  for (int i = 0; i < step; ++i) sum += x[(long)row * n + blockIdx.x * step + i];
  parts[row * 8 + blockIdx.x] = sum;
  __threadfence();
  if (atomicAdd(tickets + row, 1) != 7) return;
  float all = 0;
  for (int i = 0; i < gridDim.x; ++i) all += parts[row * 8 + i];
  y[row] = all;
}
torch::Tensor forward(torch::Tensor x) {
  const int rows = x.size(0), n = x.size(1);
  auto y = torch::empty({rows}, x.options());
  auto parts = torch::zeros({rows, 8}, x.options());
  auto tickets = torch::zeros({rows}, x.options().dtype(torch::kInt32));
  const dim3 grid(n > 1024 ? 4 : 8, rows);
  total<<<grid, 1>>>(
      x.data_ptr<float>(), parts.data_ptr<float>(), tickets.data_ptr<int>(), y.data_ptr<float>(), n);
  return y;
}
"""


def judged(folder: Path, store: Store, name: str, sizes: str, source: str) -> Dossier:
    (folder / "ref.py").write_text(REFERENCE)
    (task,) = load(f"{folder / 'ref.py'}:{name}", inputs=[sizes])
    start = Climb(task=task, candidate=Candidate(source=source + BINDING))
    return climb_on(start, [SealRung(store), EmulateRung(store)]).dossier


def test_options_print_and_small_floats_compare(tmp_path: Path, store: Store) -> None:
    found = judged(tmp_path, store, "positive", "8,16:fp16", GENERIC)
    assert found.verdict is Verdict.HOLDS, found.evidence[-1]


def test_a_fault_that_only_our_own_shift_causes_is_a_warning(tmp_path: Path, store: Store) -> None:
    found = judged(tmp_path, store, "positive", "2048,:fp16", WIDE)
    assert found.verdict is Verdict.HOLDS, found.evidence[-1]
    assert any("shifted by one element" in str(warning) for warning in found.evidence[-1].facts["warnings"])


def test_a_result_that_is_never_written_at_the_size_that_was_asked_for(tmp_path: Path, store: Store) -> None:
    found = judged(tmp_path, store, "total", "4,2048:fp32", LAST_BLOCK)
    assert found.refutation is not None
    assert found.refutation.counterexample is not None
    assert found.refutation.counterexample.kind == "unwritten"
    assert judged(tmp_path, store, "total", "4,512:fp32", LAST_BLOCK).verdict is Verdict.HOLDS
