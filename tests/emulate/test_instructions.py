"""Instructions by type, exact on cases from the textbook."""

from __future__ import annotations

import struct
from collections.abc import Mapping
from pathlib import Path

import pytest

from warpwright.core.candidate import Candidate
from warpwright.core.gpus.table import gpu_named
from warpwright.core.signature import TensorSpec
from warpwright.emulate.program.build import program
from warpwright.emulate.program.calls import EmulatedCall
from warpwright.emulate.program.instructions import instructions
from warpwright.emulate.program.running import run
from warpwright.seal.cache import Store

# Whichever comes first on a machine compiles the runtime as well.
pytestmark = pytest.mark.timeout(600)

N = 96
VALUES = struct.pack(f"<{N}f", *(1 + i / 8 for i in range(N)))
X = TensorSpec(name="x", shape=(N,), stride=(1,), dtype="fp32")
BODIES: Mapping[str, tuple[str, dict[str, int]]] = {
    "axpy": ("if (t < n) y[t] = 3.0f * x[t] + 1.0f;", {"fp32_mul": N, "fp32_add": N, "fp32_flops": 2 * N}),
    "fused": ("if (t < n) y[t] = fmaf(x[t], x[t], 1.0f);", {"fp32_fma": N, "fp32_flops": 2 * N}),
    "dot": (
        "float s = 0; if (t < n) { for (int k = 0; k < n; ++k) s += x[k] * x[t]; y[t] = s; }",
        {"fp32_mul": N * N, "fp32_add": N * N, "fp32_flops": 2 * N * N},
    ),
    "wide": ("if (t < n) y[t] = double(x[t]) / 3.0 - 1.0;", {"fp64_div": N, "fp64_add": N, "fp64_flops": 2 * N}),
    "half_of_them": ("if (t < n) { y[t] = x[t]; if (t % 2 == 0) y[t] *= 0.5f; }", {"fp32_mul": N // 2}),
    "special": ("if (t < n) y[t] = expf(x[t]) * sqrtf(x[t]);", {"fp32_special": N, "fp32_sqrt": N, "fp32_mul": N}),
    "copy": ("if (t < n) y[t] = x[t];", {"fp32_flops": 0, "fp64_flops": 0}),
}
SOURCE = "#include <torch/extension.h>\n" + "".join(
    f"""__global__ void k_{name}(const float* x, float* y, int n) {{ const int t = threadIdx.x; {body} }}
torch::Tensor {name}(torch::Tensor x) {{
  auto y = torch::empty_like(x);
  k_{name}<<<1, 128>>>(x.data_ptr<float>(), y.data_ptr<float>(), x.numel());
  return y;
}}
"""
    for name, (body, _) in BODIES.items()
)
SOURCE += "PYBIND11_MODULE(TORCH_EXTENSION_NAME, m) {\n"
SOURCE += "".join(f'  m.def("{name}", &{name});\n' for name in BODIES) + "}\n"


@pytest.fixture(scope="module")
def counted(store: Store, tmp_path_factory: pytest.TempPathFactory) -> dict[str, dict[str, int]]:
    built = program(Candidate(source=SOURCE), store, counting=True)
    calls = [EmulatedCall(entry=name, arguments=(X,), contents=(VALUES,)) for name in BODIES]
    folder: Path = tmp_path_factory.mktemp("disassembly")
    found = {}
    for name, ran in zip(BODIES, run(built, calls, gpu_named("h200"), store), strict=True):
        assert ran.report is not None, ran.ended
        assert ran.report.outcome == "ran", ran.report.what
        found[name] = instructions(built, dict(ran.report.passes), folder)
    return found


@pytest.mark.parametrize("name", BODIES)
def test_arithmetic_is_counted_exactly(name: str, counted: dict[str, dict[str, int]]) -> None:
    wanted = BODIES[name][1]
    assert {kind: counted[name].get(kind, 0) for kind in wanted} == wanted, counted[name]
