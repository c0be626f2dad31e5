"""A candidate timed against a competitor: the result says which is faster, and a competitor's failure is its own."""

from dataclasses import replace

import pytest

from warpwright.core.candidate import Candidate, Flags
from warpwright.core.launch.sealed import Sealed
from warpwright.core.records.judged import JudgeOptions
from warpwright.core.records.measurement import Cache
from warpwright.core.task import Role
from warpwright.dispatch.bundle import make_job
from warpwright.judge.timing.inference import speed_up
from warpwright.seal import toolchain
from warpwright.seal.sealing import seal
from warpwright.tasks import load

pytestmark = [
    pytest.mark.gpu,
    pytest.mark.timeout(300),
    pytest.mark.skipif(toolchain.nvcc() is None, reason="no nvcc on this machine"),
]
SOURCE = """
#include <torch/extension.h>
__global__ void swiglu(const float* gate, const float* up, float* out, int64_t n) {
  const int64_t i = blockIdx.x * (int64_t)blockDim.x + threadIdx.x;
  if (i < n) out[i] = RESULT;
}
torch::Tensor forward(torch::Tensor gate, torch::Tensor up) {
  auto out = torch::empty_like(gate);
  const int64_t n = gate.numel();
  swiglu<<<(n + THREADS - 1) / THREADS, THREADS>>>(gate.data_ptr<float>(), up.data_ptr<float>(), out.data_ptr<float>(), n);
  return out;
}
PYBIND11_MODULE(TORCH_EXTENSION_NAME, m) { m.def("forward", &forward); }
"""  # noqa: E501
RIGHT = "gate[i] / (1.f + expf(-gate[i])) * up[i]"


def sealed(task, threads, result=RIGHT):
    source = SOURCE.replace("THREADS", str(threads)).replace("RESULT", result)
    outcome = seal(task, Candidate(source=source, flags=Flags(gpu="h200")))
    assert isinstance(outcome, Sealed), outcome
    return outcome


@pytest.fixture(scope="module")
def task():
    (found,) = load("swiglu:forward")
    check = next(case for case in found.cases_of(Role.CHECK) if case.dtype == "fp32")
    timed = next(case for case in found.cases_of(Role.TIME) if case.dtype == "fp32")
    return replace(found, dtypes=("fp32",), cases=(check, timed))


def judged(judge, task, mine, other):
    asked = JudgeOptions(
        baselines=(), ceiling=False, caches=(Cache.COLD,), seconds_per_case=0.5, draws_per_check_case=1
    )
    return judge.judge(replace(make_job("mine", task, mine, asked=asked), against={"other": other}))


def test_the_slower_of_two_candidates_is_measured_as_slower(judge, task):
    found = judged(judge, task, sealed(task, 256), sealed(task, 32))
    assert not found.faults
    mine, other = found.measurements
    assert other.subject == "other"
    assert speed_up([list(mine.samples_us)], [list(other.samples_us)]).value > 1.05


def test_a_wrong_competitor_is_left_out_and_the_candidate_holds(judge, task):
    found = judged(judge, task, sealed(task, 256), sealed(task, 256, result="gate[i]"))
    assert [item.verdict.value for item in found.evidence] == ["holds"]
    assert [item.subject for item in found.measurements] == [found.candidate]
    assert [fault.where.split(",")[0] for fault in found.faults] == ["baseline other"]
