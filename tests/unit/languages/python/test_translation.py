"""A ModelNew with an extension, sealed and emulated as the C++ that its record is written as."""

from __future__ import annotations

import pytest

from warpwright import languages
from warpwright.core.candidate import Candidate
from warpwright.core.launch.plan import Launch, Library
from warpwright.core.launch.sealed import Sealed
from warpwright.core.records.evidence import Verdict
from warpwright.core.task import Case, Output, Reference, Role, Task, TensorArg
from warpwright.languages.python.pipeline import identity_with
from warpwright.verify.library import execute_on_cpu

CASES = tuple(Case(name=f"n{n}", role=Role.CHECK, dims={"N": n}, dtype="fp32") for n in (5, 300))
REFERENCE = """
import torch

class Model(torch.nn.Module):
    def __init__(self):
        super().__init__()
        self.bias = torch.nn.Parameter(torch.randn(3))

    def forward(self, x):
        return torch.relu(x @ torch.ones(3, 3, device=x.device) + self.bias)
"""
TASK = Task(
    name="shifted",
    arguments=(TensorArg(name="x", shape=("N", 3)), TensorArg(name="bias", shape=(3,))),
    outputs=(Output(name="y", shape=("N", 3)),),
    dtypes=("fp32",),
    cases=CASES,
    reference=Reference(source=REFERENCE, entry="Model", style="module", state=("bias",)),
)
RIGHT = """
import torch
from torch.utils.cpp_extension import load_inline

CUDA = r'''
__global__ void shift(const float* x, const float* bias, float* y, int n) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n) y[i] = fmaxf(x[i] + bias[i % 3], 0.0f);
}
torch::Tensor shifted(torch::Tensor x, torch::Tensor bias) {
    TORCH_CHECK(x.is_cuda(), "on the device, please");
    auto y = torch::empty_like(x);
    shift<<<(x.numel() + 127) / 128, 128>>>(
        x.data_ptr<float>(), bias.data_ptr<float>(), y.data_ptr<float>(), x.numel());
    return y;
}
'''
CPP = "torch::Tensor shifted(torch::Tensor x, torch::Tensor bias);"
extension = load_inline(name="shifted", cpp_sources=CPP, cuda_sources=CUDA, functions=["shifted"])


class ModelNew(torch.nn.Module):
    def __init__(self):
        super().__init__()
        self.bias = torch.nn.Parameter(torch.randn(3))

    def forward(self, x):
        product = x @ torch.ones(3, 3, device=x.device)
        try:
            return extension.shifted(product, self.bias)
        except RuntimeError:
            return torch.relu(product + self.bias)
"""
WRONG = Candidate(source=RIGHT.replace("if (i < n)", "if (i <= n)"), language="python")


def test_a_kernel_and_an_operation_hold_together() -> None:
    candidate = Candidate(source=RIGHT, language="python")
    sealed = languages.seal(TASK, candidate)
    assert isinstance(sealed, Sealed)
    kinds = [type(node) for node in sealed.plan("n300", "forward").nodes]
    assert (kinds.count(Launch), kinds.count(Library)) == (1, 1)
    assert sealed.manifest.candidate == candidate.id
    emulation = languages.of(candidate).emulate(TASK, candidate, library=execute_on_cpu)
    assert emulation.verdict is Verdict.HOLDS, emulation


def test_a_finding_names_the_line_of_the_python_file() -> None:
    emulation = languages.of(WRONG).emulate(TASK, WRONG, library=execute_on_cpu)
    assert emulation.verdict is Verdict.REFUTED
    assert emulation.counterexample is not None
    assert emulation.counterexample.line == WRONG.source[: WRONG.source.index("if (i <=")].count("\n") + 1


@pytest.mark.parametrize(
    ("right", "wrong", "said"),
    [
        ('functions=["shifted"])', 'functions=["other"])', "'other' was not declared"),
        ("fmaxf(", "no_such_function(", "no_such_function"),
    ],
    ids=["not-declared", "device-code"],
)
def test_a_fallback_is_seen_for_what_it_is(right: str, wrong: str, said: str) -> None:
    """torch could not build the extension, and the candidate goes on without it."""
    body = RIGHT.replace(right, wrong)
    body = body.replace("extension = load", "try:\n    extension = load").replace(
        "\n\nclass", "\nexcept RuntimeError:\n    extension = None\n\nclass", 1
    )
    body = body.replace("except RuntimeError:\n            ", "except AttributeError:\n            ")
    sealed = languages.seal(TASK, Candidate(source=body, language="python"))
    assert isinstance(sealed, Sealed)
    assert not any(isinstance(node, Launch) for plan in sealed.plans for node in plan.nodes)
    assert said in sealed.source.split("WARPWRIGHT_CAPTURE")[-2]


def test_a_record_is_made_anew_once_another_triton_is_installed() -> None:
    assert len({identity_with(torch="2", triton=installed) for installed in (None, "3.9.0", "4.0.0")}) == 3
