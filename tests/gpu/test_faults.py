"""Failures on the GPU are attributed to the right side, and the next candidate is judged as if nothing had happened."""

from dataclasses import replace

import pytest

from warpwright.core.candidate import Candidate, Flags
from warpwright.core.launch.sealed import Sealed
from warpwright.core.records.evidence import Verdict
from warpwright.core.records.judged import JudgeOptions
from warpwright.core.task import Role
from warpwright.dispatch.bundle import make_job
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
  BODY
  if (i < n) out[i] = gate[i] / (1.f + expf(-gate[i])) * up[i];
}
torch::Tensor forward(torch::Tensor gate, torch::Tensor up) {
  HOST
  auto out = torch::empty_like(gate);
  swiglu<<<(gate.numel() + 255) / 256, 256>>>(gate.data_ptr<float>(), up.data_ptr<float>(), out.data_ptr<float>(), gate.numel());
  return out;
}
PYBIND11_MODULE(TORCH_EXTENSION_NAME, m) { m.def("forward", &forward); }
"""  # noqa: E501


def job(body="", host=""):
    (task,) = load("swiglu:forward")
    cases = tuple(case for case in task.cases_of(Role.CHECK) if case.dtype == "fp32")[:2]
    kept = replace(task, dtypes=("fp32",), cases=cases)
    source = SOURCE.replace("BODY", body).replace("HOST", host)
    sealed = seal(kept, Candidate(source=source, flags=Flags(gpu="h200")))
    assert isinstance(sealed, Sealed), sealed
    return make_job("candidate", kept, sealed, asked=JudgeOptions(time=False, draws_per_check_case=2))


def scratch(floats):
    return (
        f"auto scratch = torch::empty({{int64_t({floats})}}, gate.options()); "
        "cudaMemsetAsync(scratch.data_ptr(), 0, 8);"
    )


def afterwards(judge):
    """Judges the correct candidate after the failure."""
    found = judge.judge(job())
    assert not found.faults
    assert found.evidence[0].verdict is Verdict.HOLDS


def test_a_hang_refutes_the_candidate(judge):
    (found,) = judge.judge(job(body="for (volatile int64_t turn = 0; n >= 0; ++turn) { }")).evidence
    assert (found.verdict, found.counterexample.kind) == (Verdict.REFUTED, "hang")
    afterwards(judge)


def test_an_illegal_address_refutes_the_candidate(judge):
    (found,) = judge.judge(job(body="if (i == 0) *(volatile float*)8 = 1.f;")).evidence
    assert (found.verdict, found.counterexample.kind) == (Verdict.REFUTED, "cuda")
    afterwards(judge)


def test_more_scratch_than_gpu_memory_refutes_the_candidate(judge):
    (found,) = judge.judge(job(host=scratch(1 << 39))).evidence
    assert (found.verdict, found.counterexample.kind) == (Verdict.REFUTED, "memory")
    afterwards(judge)


def test_memory_held_by_another_process_gives_no_verdict(judge):
    import torch

    free, _ = torch.cuda.mem_get_info()
    held = torch.empty(free - (200 << 20), dtype=torch.uint8, device="cuda")
    found = judge.judge(job(host=scratch(1 << 28)))
    del held
    torch.cuda.empty_cache()
    assert found.faults
    assert not found.evidence
    afterwards(judge)


def test_a_killed_process_gives_no_verdict(judge, monkeypatch):
    from warpwright.judge.checks import examine

    plain = examine.Worker.ask

    def killed(self, do, timeout_s, **arguments):
        if do == "run":
            self._process.kill()
        return plain(self, do, timeout_s, **arguments)

    with monkeypatch.context() as patch:
        patch.setattr(examine.Worker, "ask", killed)
        found = judge.judge(job())
    assert [fault.retryable for fault in found.faults] == [True]
    assert not found.evidence
    afterwards(judge)


def test_candidates_that_die_leave_no_memory_behind(judge):
    import torch

    afterwards(judge)
    judge._workers.settle()
    before, _ = torch.cuda.mem_get_info()
    for _ in range(3):
        (found,) = judge.judge(job(body="__trap();", host=scratch(1 << 28))).evidence
        assert found.verdict is Verdict.REFUTED
    afterwards(judge)
    judge._workers.settle()
    assert torch.cuda.mem_get_info()[0] >= before - (64 << 20)
