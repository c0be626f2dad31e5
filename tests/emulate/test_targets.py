"""The emulator stands for the GPU that a candidate is compiled for: its capability, its SM count, its limits."""

from __future__ import annotations

import pytest

from warpwright.core.candidate import Candidate, Flags
from warpwright.core.gpus.table import GPUS, gpu_named
from warpwright.core.launch.plan import Launch
from warpwright.core.launch.sealed import Sealed
from warpwright.core.records.evidence import Verdict
from warpwright.core.task import Case, Output, Reference, Role, Task, TensorArg
from warpwright.emulate.emulating import emulate
from warpwright.emulate.emulation import Emulation
from warpwright.emulate.program.build import target_macros
from warpwright.seal import toolchain
from warpwright.seal.cache import Store
from warpwright.seal.sealing import seal

TASK = Task(
    name="double",
    arguments=(TensorArg(name="x", shape=("N",)),),
    outputs=(Output(name="y", shape=("N",)),),
    cases=(Case(name="small", role=Role.CHECK, dims={"N": 700}),),
    reference=Reference(source="def forward(x):\n    return 2 * x\n"),
)
SOURCE = """#include <ATen/cuda/CUDAContext.h>
#include <torch/extension.h>
@GLOBALS@
__global__ void doubled(const float* x, float* y, int n, int sms) {
  extern __shared__ float memory[];
  unsigned counted;
  asm("mov.u32 %0, %nsmid;" : "=r"(counted));
  for (int i = blockIdx.x * blockDim.x + threadIdx.x; i < n; i += gridDim.x * blockDim.x) y[i] = @VALUE@;
}
torch::Tensor forward(torch::Tensor x) {
  auto y = torch::empty_like(x);
  int sms = at::cuda::getCurrentDeviceProperties()->multiProcessorCount;
  @LAUNCH@
  return y;
}
PYBIND11_MODULE(TORCH_EXTENSION_NAME, m) { m.def("forward", &forward); }
"""
LAUNCH = "doubled<<<{grid}, 128, {shared}>>>(x.data_ptr<float>(), y.data_ptr<float>(), x.numel(), sms);"
NEWER = """
#if __CUDA_ARCH__ >= 900
#define FACTOR 2
#else
#define FACTOR 3
#endif
"""
CLUSTERS = """cudaLaunchConfig_t config{};
  config.gridDim = 4, config.blockDim = 128;
  cudaLaunchAttribute attribute;
  attribute.id = cudaLaunchAttributeClusterDimension;
  attribute.val.clusterDim = {2, 1, 1};
  config.attrs = &attribute, config.numAttrs = 1;
  cudaLaunchKernelEx(&config, doubled, (const float*)x.data_ptr<float>(), y.data_ptr<float>(), (int)x.numel(), sms);"""
OPT_IN = "cudaFuncSetAttribute(doubled, cudaFuncAttributeMaxDynamicSharedMemorySize, 200000);\n  "


def candidate(
    gpu: str, value: str = "2 * x[i]", launch: str = LAUNCH.format(grid=2, shared=0), text: str = ""
) -> Candidate:
    source = SOURCE.replace("@GLOBALS@", text).replace("@VALUE@", value).replace("@LAUNCH@", launch)
    return Candidate(source=source, flags=Flags(gpu=gpu))


def emulated(found: Candidate, store: Store) -> Emulation:
    return emulate(TASK, found, None, store)


@pytest.mark.parametrize(("gpu", "verdict"), [("h200", Verdict.HOLDS), ("a100-80gb", Verdict.REFUTED)])
def test_the_branch_that_is_compiled_for_the_target_is_the_one_that_runs(
    store: Store, gpu: str, verdict: Verdict
) -> None:
    assert emulated(candidate(gpu, "FACTOR * x[i]", text=NEWER), store).verdict is verdict


@pytest.mark.parametrize(("gpu", "verdict"), [("h200", Verdict.HOLDS), ("a100-80gb", Verdict.REFUTED)])
def test_device_code_counts_the_multiprocessors_of_the_target(store: Store, gpu: str, verdict: Verdict) -> None:
    assert emulated(candidate(gpu, "2 * x[i] * counted / sms"), store).verdict is Verdict.HOLDS
    assert emulated(candidate(gpu, "2 * x[i] * counted / 132"), store).verdict is verdict


@pytest.mark.parametrize(("gpu", "verdict"), [("h200", Verdict.HOLDS), ("a10g", Verdict.REFUTED)])
def test_a_block_gets_no_more_shared_memory_than_the_target_has(store: Store, gpu: str, verdict: Verdict) -> None:
    large = candidate(gpu, launch=OPT_IN + LAUNCH.format(grid=2, shared=200000))
    assert emulated(large, store).verdict is verdict


@pytest.mark.parametrize(("gpu", "verdict"), [("h200", Verdict.HOLDS), ("a100-80gb", Verdict.REFUTED)])
def test_clusters_are_launched_only_where_the_target_has_them(store: Store, gpu: str, verdict: Verdict) -> None:
    assert emulated(candidate(gpu, launch=CLUSTERS), store).verdict is verdict


@pytest.mark.skipif(toolchain.nvcc() is None, reason="no nvcc on this machine")
@pytest.mark.parametrize("gpu", ["a100-80gb", "h200"])
def test_globals_that_are_made_before_any_call_see_the_target_too(store: Store, gpu: str) -> None:
    text = "static const int blocks = at::cuda::getCurrentDeviceProperties()->multiProcessorCount;"
    sealed = seal(TASK, candidate(gpu, launch=LAUNCH.format(grid="blocks", shared=0), text=text), None, store)
    assert isinstance(sealed, Sealed), sealed
    (launch,) = (node for node in sealed.plan("small", "forward").nodes if isinstance(node, Launch))
    assert launch.grid == (gpu_named(gpu).sms, 1, 1)


@pytest.mark.skipif(toolchain.nvcc() is None, reason="no nvcc on this machine")
@pytest.mark.parametrize("gpu", sorted({gpu.arch: gpu.name for gpu in GPUS.values()}.values()))
def test_the_macros_of_a_target_are_those_nvcc_defines(store: Store, gpu: str) -> None:
    """Device code asserts each of them when it is compiled."""
    macros = dict(line.split()[1:3] if line.count(" ") > 1 else (line.split()[1], "") for line in _lines(gpu))
    checks = "".join(
        f'#ifndef {name}\n#error "{name} is missing"\n#endif\n'
        + (f"static_assert({name} == {value});\n" if value else "")
        for name, value in macros.items()
    )
    guarded = f"#ifdef __CUDA_ARCH__\n{checks}#endif\n"
    assert isinstance(seal(TASK, candidate(gpu, text=guarded), None, store), Sealed)
    assert emulated(candidate(gpu, text=guarded), store).verdict is Verdict.HOLDS


def _lines(gpu: str) -> list[str]:
    return target_macros(gpu_named(gpu).architecture).splitlines()
