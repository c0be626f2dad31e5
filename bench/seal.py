"""Measures how long sealing takes, beside nvcc alone and torch's extension builder, in one run on one machine.

bare     nvcc -cubin on the kernels alone: the lower bound of sealing
seal     cubin and launch plans of the whole extension, as a library call, with only our own headers in the cache
hit      the same again
many     seconds per candidate when many are sealed at once
torch    torch.utils.cpp_extension.load of the same file, if torch has CUDA headers

Bare and seal alternate in who goes first. Besides wall-clock time the report has processor time, which other work on
the machine affects less, and the load average at both ends of the run.

Run: python bench/seal.py [--rounds 5] [--many 64] [--no-torch] [--json]. The exit status is 1 if a bar is missed.
"""

from __future__ import annotations

import argparse
import json
import os
import resource
import statistics
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable, Sequence
from dataclasses import asdict, dataclass
from pathlib import Path

from warpwright import languages
from warpwright.core.candidate import Candidate
from warpwright.core.launch.sealed import Sealed
from warpwright.core.task import Case, Output, Reference, Role, ScalarArg, Task, TensorArg
from warpwright.seal import toolchain
from warpwright.seal.cache import Store
from warpwright.seal.capture import program as capture
from warpwright.seal.device import nvcc as device
from warpwright.seal.sealing import seal

BARS = {"seal_over_bare": 2.5, "hit_s": 0.030, "many_s": 1.2}

KERNEL = r"""
template <typename T, int THREADS>
__global__ void __launch_bounds__(THREADS) rmsnorm(const T* __restrict__ x, const T* __restrict__ weight,
                                                   T* __restrict__ out, int columns, float eps) {
  const T* row = x + static_cast<int64_t>(blockIdx.x) * columns;
  float sum = 0.0f;
  for (int i = threadIdx.x; i < columns; i += THREADS) sum += static_cast<float>(row[i]) * static_cast<float>(row[i]);
  for (int offset = 16; offset > 0; offset >>= 1) sum += __shfl_xor_sync(0xffffffffu, sum, offset);
  __shared__ float partial[32];
  if (threadIdx.x % 32 == 0) partial[threadIdx.x / 32] = sum;
  __syncthreads();
  float total = 0.0f;
  for (int i = 0; i < THREADS / 32; ++i) total += partial[i];
  const float scale = rsqrtf(total / columns + eps);
  T* target = out + static_cast<int64_t>(blockIdx.x) * columns;
  for (int i = threadIdx.x; i < columns; i += THREADS) {
    target[i] = static_cast<T>(static_cast<float>(row[i]) * scale * static_cast<float>(weight[i]));
  }
}
"""
BARE = f"""#include <cstdint>
{KERNEL}
template __global__ void rmsnorm<float, 256>(const float*, const float*, float*, int, float);
"""
FULL = f"""#include <torch/extension.h>
#include <cstdint>
{KERNEL}
torch::Tensor forward(torch::Tensor x, torch::Tensor weight, double eps) {{
  TORCH_CHECK(x.is_cuda() && x.is_contiguous(), "x must be a contiguous CUDA tensor");
  auto out = torch::empty_like(x);
  const int columns = x.size(-1);
  rmsnorm<float, 256><<<x.numel() / columns, 256>>>(x.data_ptr<float>(), weight.data_ptr<float>(),
                                                    out.data_ptr<float>(), columns, eps);
  return out;
}}
PYBIND11_MODULE(TORCH_EXTENSION_NAME, m) {{ m.def("forward", &forward, "RMS norm"); }}
"""
TASK = Task(
    name="rmsnorm",
    arguments=(
        TensorArg(name="x", shape=("R", "C")),
        TensorArg(name="weight", shape=("C",)),
        ScalarArg(name="eps", values=(1e-6,)),
    ),
    outputs=(Output(name="out", shape=("R", "C")),),
    cases=tuple(
        Case(name=f"{rows}x{columns}", role=Role.CHECK, dims={"R": rows, "C": columns}, scalars={"eps": 1e-6})
        for rows, columns in ((1, 1), (7, 129), (64, 1000), (1024, 4096), (16384, 4096))
    ),
    reference=Reference(source=""),
)


@dataclass(frozen=True, slots=True, kw_only=True)
class Spent:
    """Wall-clock seconds, and processor seconds of all processes together."""

    clock_s: float
    cpu_s: float


@dataclass(frozen=True, slots=True, kw_only=True)
class Figures:
    """Medians in seconds. Figures that this machine cannot measure are None."""

    bare: Spent | None
    seal: Spent
    hit_s: float
    many: Spent
    """Per candidate."""
    candidates: int
    torch_s: float | None
    steps: dict[str, float]
    cores: int
    load: tuple[float, float]
    """The load average of one minute, before and after."""

    @property
    def seal_over_bare(self) -> float | None:
        return self.seal.clock_s / self.bare.clock_s if self.bare else None


def spent(work: Callable[[], object]) -> Spent:
    start, used = time.perf_counter(), _cpu_s()
    work()
    return Spent(clock_s=time.perf_counter() - start, cpu_s=_cpu_s() - used)


def _cpu_s() -> float:
    both = (resource.getrusage(who) for who in (resource.RUSAGE_SELF, resource.RUSAGE_CHILDREN))
    return sum(used.ru_utime + used.ru_stime for used in both)


def median(times: Sequence[Spent]) -> Spent:
    return Spent(
        clock_s=statistics.median(one.clock_s for one in times), cpu_s=statistics.median(one.cpu_s for one in times)
    )


def variant(number: int) -> Candidate:
    """Builds a new candidate each time, so that no cache of ours or of the compiler can help."""
    return Candidate(source=f"// {number} {time.time_ns()}\n{FULL}")


def bare(folder: Path) -> Spent | None:
    nvcc = toolchain.nvcc()
    if nvcc is None:
        return None
    (folder / "bare.cu").write_text(BARE)
    command = [nvcc, "-cubin", *device.arguments(variant(0).flags), "bare.cu", "-o", "bare.cubin"]
    return spent(lambda: subprocess.run(command, cwd=folder, check=True, capture_output=True))


@dataclass(frozen=True, slots=True, kw_only=True)
class Round:
    bare: Spent | None
    cold: Spent
    hit: Spent
    steps: dict[str, float]


def one_round(folder: Path, store: Store, number: int) -> Round:
    candidate = variant(number)
    before = bare(folder) if number % 2 == 0 else None
    cold = spent(lambda: seal(TASK, candidate, store=store))
    after = bare(folder) if number % 2 else None
    hit = spent(lambda: seal(TASK, candidate, store=store))
    outcome = seal(TASK, candidate, store=store)
    if not isinstance(outcome, Sealed):
        raise SystemExit(f"the benchmark's own kernel was refused: {outcome}")
    return Round(bare=before or after, cold=cold, hit=hit, steps=dict(outcome.manifest.seconds))


def through_torch(folder: Path) -> float | None:
    """Builds the extension with torch, as is usual. Needs a torch built with CUDA, and its headers."""
    code = (
        "import sys, torch; from torch.utils.cpp_extension import load, CUDA_HOME\n"
        "if torch.version.cuda is None or CUDA_HOME is None: sys.exit(77)\n"
        "load('bench_seal', ['full.cu'], build_directory='.', is_python_module=False)"
    )
    (folder / "full.cu").write_text(FULL)
    start = time.perf_counter()
    done = subprocess.run([sys.executable, "-c", code], cwd=folder, capture_output=True, check=False)
    return time.perf_counter() - start if done.returncode == 0 else None


def measure(rounds: int, many: int, torch: bool) -> Figures:
    before = os.getloadavg()[0]
    with tempfile.TemporaryDirectory() as name:
        folder, store = Path(name), Store(root=Path(name) / "store")
        capture.prebuilt(store)
        device.prepare(store)
        seen = [one_round(folder, store, number) for number in range(rounds)]
        batch = [variant(number) for number in range(many)]
        whole = spent(lambda: languages.seal_many(TASK, batch, store=store))
        bares = [one.bare for one in seen if one.bare is not None]
        return Figures(
            bare=median(bares) if bares else None,
            seal=median([one.cold for one in seen]),
            hit_s=median([one.hit for one in seen]).clock_s,
            many=Spent(clock_s=whole.clock_s / many, cpu_s=whole.cpu_s / many),
            candidates=many,
            torch_s=through_torch(folder) if torch else None,
            steps=seen[-1].steps,
            cores=toolchain.cores(),
            load=(before, os.getloadavg()[0]),
        )


def missed(figures: Figures) -> list[str]:
    found = {"seal_over_bare": figures.seal_over_bare, "hit_s": figures.hit_s, "many_s": figures.many.clock_s}
    return [name for name, bar in BARS.items() if (value := found[name]) is not None and not value <= bar]


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--rounds", type=int, default=5)
    parser.add_argument("--many", type=int, default=64)
    parser.add_argument("--torch", action=argparse.BooleanOptionalAction, default=True, help="time torch's own way too")
    parser.add_argument("--json", action="store_true")
    options = parser.parse_args()
    figures = measure(options.rounds, options.many, options.torch)
    report = asdict(figures) | {"seal_over_bare": figures.seal_over_bare, "bars": BARS, "missed": missed(figures)}
    print(json.dumps(report, indent=None if options.json else 2))
    return 1 if report["missed"] else 0


if __name__ == "__main__":
    sys.exit(main())
