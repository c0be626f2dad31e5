"""A call of several gigabytes is timed, checked to its last row, and its memory measured."""

import pytest

from warpwright.core.candidate import Candidate, Flags
from warpwright.core.launch.sealed import Sealed
from warpwright.core.records.evidence import Verdict
from warpwright.core.records.judged import JudgeOptions
from warpwright.core.records.measurement import Cache
from warpwright.core.task import Case, Output, Reference, Role, Task, TensorArg
from warpwright.dispatch.bundle import make_job
from warpwright.seal import toolchain
from warpwright.seal.sealing import seal

pytestmark = [
    pytest.mark.gpu,
    pytest.mark.timeout(300),
    pytest.mark.skipif(toolchain.nvcc() is None, reason="no nvcc on this machine"),
]
ROWS, COLUMNS = 150_000, 4096
BYTES = ROWS * COLUMNS * 4
TASK = Task(
    name="shifted",
    arguments=(TensorArg(name="x", shape=("R", "D")), TensorArg(name="w", shape=("D",))),
    outputs=(Output(name="y", shape=("R", "D")),),
    cases=(
        Case(name="small", role=Role.CHECK, dims={"R": 37, "D": 64}),
        Case(name="large", role=Role.TIME, dims={"R": ROWS, "D": COLUMNS}),
    ),
    reference=Reference(source="def forward(x, w):\n    return x + w\n"),
)
SOURCE = """
#include <torch/extension.h>
__global__ void shift(const float* x, const float* w, float* y, int64_t rows, int64_t columns) {
  const int64_t row = blockIdx.x;
  for (int64_t i = threadIdx.x; i < columns; i += blockDim.x) y[row * columns + i] = x[row * columns + i] + w[i] EXTRA;
}
torch::Tensor forward(torch::Tensor x, torch::Tensor w) {
  auto y = torch::empty_like(x);
  SCRATCH
  shift<<<x.size(0), 256>>>(x.data_ptr<float>(), w.data_ptr<float>(), y.data_ptr<float>(), x.size(0), x.size(1));
  return y;
}
PYBIND11_MODULE(TORCH_EXTENSION_NAME, m) { m.def("forward", &forward); }
"""
COPY = (
    "auto copy = torch::empty_like(x); cudaMemcpyAsync(copy.data_ptr(), x.data_ptr(), x.nbytes(), cudaMemcpyDefault);"
)


def judged(judge, extra="", scratch=""):
    source = SOURCE.replace("EXTRA", extra).replace("SCRATCH", scratch)
    sealed = seal(TASK, Candidate(source=source, flags=Flags(gpu="h200")))
    assert isinstance(sealed, Sealed), sealed
    asked = JudgeOptions(baselines=("eager",), ceiling=False, caches=(Cache.COLD,), seconds_per_case=0.3)
    return judge.judge(make_job("mine", TASK, sealed, asked=asked))


def test_a_right_kernel_is_timed_beside_eager(judge):
    found = judged(judge)
    assert not found.faults
    assert [item.verdict for item in found.evidence] == [Verdict.HOLDS]
    mine, eager = found.measurements
    assert mine.invalid is None
    assert mine.peak_bytes == BYTES
    assert eager.peak_bytes == pytest.approx(BYTES, rel=1e-3)  # torch rounds allocations up


def test_a_kernel_that_is_wrong_in_one_late_row_is_refuted(judge):
    found = judged(judge, extra="+ (row == 149990 && i == 77 ? 0.01f : 0.f)")
    assert found.evidence[-1].verdict is Verdict.REFUTED
    assert "in_rows" in found.evidence[-1].counterexample.facts


def test_scratch_counts_as_memory_of_the_call(judge):
    mine, _ = judged(judge, scratch=COPY).measurements
    assert mine.peak_bytes == 2 * BYTES
