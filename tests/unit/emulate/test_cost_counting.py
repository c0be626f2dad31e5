"""Counting a case that is too large to run: exact where blocks are alike, a reason and no figure where they are not."""

from __future__ import annotations

from functools import cache
from typing import Any

import pytest

from warpwright.core.candidate import Candidate
from warpwright.core.gpus.limit import physical_limit
from warpwright.core.gpus.table import gpu_named
from warpwright.core.launch.sealed import Sealed
from warpwright.core.records.search import Prediction
from warpwright.core.task import Case, Output, Reference, Role, Task, TensorArg, Work
from warpwright.emulate.cost import counting
from warpwright.emulate.cost.counting import Counted, count
from warpwright.emulate.cost.model import predict
from warpwright.seal.sealing import seal

ROWS, COLUMNS = 16384, 2048
ELEMENTS = ROWS * COLUMNS
CASE = Case(name="large", role=Role.TIME, dims={"N": ROWS, "D": COLUMNS})
TASK = Task(
    name="double",
    arguments=(TensorArg(name="x", shape=("N", "D")),),
    outputs=(Output(name="y", shape=("N", "D")),),
    cases=(CASE,),
    work=Work(reads="N*D*e", writes="N*D*e", scalar="N*D"),
    reference=Reference(source="def forward(x):\n    return x + x\n"),
)
SOURCE = """#include <torch/extension.h>
__global__ void doubled(const float* x, float* y, int rows, int columns) {{ {body} }}
torch::Tensor forward(torch::Tensor x) {{
  auto y = torch::empty_like(x);
  const int rows = x.size(0), columns = x.size(1);
  doubled<<<{launch}>>>(x.data_ptr<float>(), y.data_ptr<float>(), rows, columns);
  return y;
}}
PYBIND11_MODULE(TORCH_EXTENSION_NAME, m) {{ m.def("forward", &forward); }}
"""
LOOP = "for (int i = threadIdx.x; i < columns; i += blockDim.x) "
ALONG = f"const int at = blockIdx.x * columns; {LOOP}"
KERNELS = {
    "rows": (ALONG + "y[at + i] = 2 * x[at + i];", "rows, 256"),
    "vectors": (
        "const float4* in = reinterpret_cast<const float4*>(x) + blockIdx.x * (columns / 4);"
        "float4* out = reinterpret_cast<float4*>(y) + blockIdx.x * (columns / 4);"
        "for (int i = threadIdx.x; i < columns / 4; i += blockDim.x) {"
        " float4 v = in[i]; out[i] = make_float4(2 * v.x, 2 * v.y, 2 * v.z, 2 * v.w); }",
        "rows, 256",
    ),
    "columns": (
        "const int c = blockIdx.y; const int r = blockIdx.x * blockDim.x + threadIdx.x;"
        "if (r < rows) y[r * columns + c] = 2 * x[r * columns + c];",
        "dim3((rows + 63) / 64, columns), 64",
    ),
    "persistent": (
        "for (int r = blockIdx.x; r < rows; r += gridDim.x)"
        " for (int i = threadIdx.x; i < columns; i += blockDim.x) y[r * columns + i] = 2 * x[r * columns + i];",
        "264, 256",
    ),
    "by size": (ALONG + "y[at + i] = 2 * x[at + i];", "rows, rows > 4096 ? 256 : 128"),
    "uneven": (ALONG + "for (int k = 0; k < (blockIdx.x % 3 ? 1 : 64); ++k) y[at + i] = x[i] + k;", "rows, 32"),
    "rare": ("if (blockIdx.x == 7) " + LOOP + "y[blockIdx.x * columns + i] = x[i];", "rows, 32"),
}


@cache
def measured(name: str) -> tuple[Counted, Prediction | None]:
    body, launch = KERNELS[name]
    candidate = Candidate(source=SOURCE.format(body=body, launch=launch))
    sealed = seal(TASK, candidate)
    assert isinstance(sealed, Sealed)
    counted = count(TASK, candidate, sealed, CASE)
    return counted, None if counted.reason else predict(TASK, sealed, CASE, counted)


@pytest.mark.parametrize("name", ["rows", "vectors", "columns", "persistent"])
def test_the_whole_case_is_counted_from_a_few_blocks_of_a_smaller_one(name: str) -> None:
    counted, _ = measured(name)
    (launch,) = counted.launches
    width = 4 if name == "vectors" else 1
    near = 0.1 if name == "persistent" else 0.001
    assert counted.times > 1
    assert launch.counters["global_loads"] == pytest.approx(ELEMENTS / width, rel=near)
    assert launch.counters["global_store_bytes"] == pytest.approx(4 * ELEMENTS, rel=near)


DRAWING = """#include <torch/extension.h>
__global__ void doubled(const float* x, float* y, int* drawn, int rows, int columns) {
  __shared__ int row;
  for (;;) {
    __syncthreads();
    if (threadIdx.x == 0) row = atomicAdd(drawn, 1);
    __syncthreads();
    if (row >= rows) return;
    for (int i = threadIdx.x; i < columns; i += blockDim.x) y[row * columns + i] = 2 * x[row * columns + i];
  }
}
torch::Tensor forward(torch::Tensor x) {
  auto y = torch::empty_like(x);
  auto drawn = torch::zeros({1}, x.options().dtype(torch::kInt32));
  doubled<<<264, 256>>>(x.data_ptr<float>(), y.data_ptr<float>(), drawn.data_ptr<int>(), x.size(0), x.size(1));
  return y;
}
PYBIND11_MODULE(TORCH_EXTENSION_NAME, m) { m.def("forward", &forward); }
"""


def test_blocks_that_draw_their_work_are_not_counted_for_that_of_others() -> None:
    """A few of them do all of it."""
    candidate = Candidate(source=DRAWING)
    sealed = seal(TASK, candidate)
    assert isinstance(sealed, Sealed)
    (launch,) = count(TASK, candidate, sealed, CASE).launches
    assert launch.counters["global_store_bytes"] == pytest.approx(4 * ELEMENTS, rel=0.01)


def test_where_the_memory_of_the_device_finds_no_place_another_is_tried(monkeypatch: pytest.MonkeyPatch) -> None:
    attempted, plain = [], counting._attempted

    def first_taken(*asked: Any) -> list[bytes]:
        attempted.append(asked[-1])
        written = plain(*asked)
        return written if asked[-1] else [line.replace(b'"ran"', b'"taken"') for line in written]

    monkeypatch.setattr(counting, "_attempted", first_taken)
    counted, _ = measured.__wrapped__("rows")
    assert counted.reason is None
    assert {0, 1} <= set(attempted)


def test_sectors_tell_rows_from_columns() -> None:
    sectors = {name: measured(name)[0].launches[0].counters["load_sectors"] for name in ("rows", "columns")}
    assert sectors["rows"] == pytest.approx(ELEMENTS / 8, rel=0.02)
    assert sectors["columns"] == pytest.approx(ELEMENTS, rel=0.02)


def test_predictions_rank_them_as_hardware_would() -> None:
    names = ("rows", "vectors", "columns")
    times = {name: prediction.time_us for name in names if (prediction := measured(name)[1])}
    assert times["vectors"] <= times["rows"] < times["columns"]
    assert times["columns"] > 2 * times["rows"]
    limit = physical_limit(TASK.work, CASE, gpu_named("h200"))
    assert limit is not None
    assert all(time > limit.floor_seconds * 1e6 for time in times.values())


def test_a_kernel_that_is_launched_otherwise_when_smaller_is_run_larger() -> None:
    counted, _ = measured("by size")
    assert counted.reason is None
    assert counted.times < measured("rows")[0].times


@pytest.mark.parametrize(("name", "reason"), [("uneven", "blocks differ too much"), ("rare", "they write too little")])
def test_blocks_that_do_not_stand_for_all_are_no_sample(name: str, reason: str) -> None:
    counted, prediction = measured(name)
    assert prediction is None
    assert reason in (counted.reason or "")
    assert counted.launches == ()


def test_what_cannot_be_emulated_is_a_reason_and_no_error() -> None:
    body, launch = KERNELS["rows"]
    candidate = Candidate(source=SOURCE.format(body=body, launch=launch))
    sealed = seal(TASK, candidate)
    assert isinstance(sealed, Sealed)
    broken = Candidate(source=candidate.source.replace("return y;", 'asm("wgmma.fence.sync.aligned;"); return z;'))
    counted = count(TASK, broken, sealed, CASE)
    assert counted.reason
    assert counted.launches == ()
