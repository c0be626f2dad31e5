"""Measures how fast the emulator builds and runs, beside an uninstrumented build and stock ThreadSanitizer.

build      from source to program, with only our runtime in the store
verdict    from source to verdict on every check case of a task, with expected values in the store
first      the same for the first kernel of a task, whose expected values must be computed
checked    checked accesses per second on one core
plain      the same kernel and runtime without instrumentation
tsan       the same loop in plain C++ under stock ThreadSanitizer with one thread

Times are processor seconds of all processes together, since other work on the machine does not change them; on an idle
machine no step takes longer by wall clock.

Run: python bench/emulate.py [--rounds 3] [--json]. The exit status is 1 if a bar is missed.
"""

from __future__ import annotations

import argparse
import json
import os
import statistics
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable
from pathlib import Path

from warpwright.core.candidate import Candidate
from warpwright.core.gpus.table import gpu_named
from warpwright.core.signature import TensorSpec
from warpwright.core.task import Role
from warpwright.emulate.emulating import emulate
from warpwright.emulate.program import build
from warpwright.emulate.program.calls import EmulatedCall
from warpwright.emulate.program.compilers import compiler
from warpwright.emulate.program.front import rewrite
from warpwright.emulate.program.running import run
from warpwright.seal.cache import Store, default_root
from warpwright.seal.capture import program as capture
from warpwright.tasks.find import load

BARS = {"build_s": 1.5, "verdict_s": 6.0, "checked_per_s": 80e6}
ELEMENTS, REPEATS = 1 << 16, 1024
KERNEL = f"""#include <torch/extension.h>
__global__ void work(const float* x, float* y, int n) {{
  const int i = blockIdx.x * blockDim.x + threadIdx.x;
  float sum = 0.0f;
  for (int k = 0; k < {REPEATS}; ++k) sum += x[(i + 32 * k) % n];
  if (i < n) y[i] = sum;
}}
torch::Tensor forward(torch::Tensor x) {{
  auto y = torch::empty_like(x);
  const int n = x.numel();
  work<<<(n + 255) / 256, 256>>>(x.data_ptr<float>(), y.data_ptr<float>(), n);
  return y;
}}
PYBIND11_MODULE(TORCH_EXTENSION_NAME, m) {{ m.def("forward", &forward); }}
"""
PLAIN = f"""#include <vector>
__attribute__((noinline)) void work(const float* x, float* y, int n, int i) {{
  float sum = 0.0f;
  for (int k = 0; k < {REPEATS}; ++k) sum += x[(i + 32 * k) % n];
  y[i] = sum;
}}
int main() {{
  std::vector<float> x({ELEMENTS}, 1.0f), y({ELEMENTS});
  for (int i = 0; i < {ELEMENTS}; ++i) work(x.data(), y.data(), {ELEMENTS}, i);
  return y[1] == 0.0f;
}}
"""
X = TensorSpec(name="x", shape=(ELEMENTS,), stride=(1,), dtype="fp32")
ONE = TensorSpec(name="x", shape=(1,), stride=(1,), dtype="fp32")
VERIFIED = ("layernorm_two_pass", "paper/layernorm")


def spent(work: Callable[[], object]) -> float:
    """Processor seconds of this process and of child processes that have ended."""
    before = os.times()
    work()
    return sum(after - start for after, start in zip(os.times()[:4], before[:4], strict=True))


def variant(number: int, source: str = KERNEL) -> Candidate:
    """Builds a new candidate each time, so that nothing is in the store."""
    return Candidate(source=f"// {number} {time.time_ns()}\n{source}")


def accesses_per_second(program: Path, store: Store) -> float:
    """Measures one call, less the time of an empty one."""
    full = EmulatedCall(entry="forward", arguments=(X,), contents=(bytes(4 * ELEMENTS),))
    none = EmulatedCall(entry="forward", arguments=(ONE,), contents=(bytes(4),))
    gpu = gpu_named("h200")
    seconds = spent(lambda: run(program, [full], gpu, store)) - spent(lambda: run(program, [none], gpu, store))
    return ELEMENTS * (REPEATS + 1) / seconds


def uninstrumented(folder: Path, store: Store) -> Path:
    plain = compiler().command(*build.include_paths(), "-O1")
    (folder / "kernel.cu").write_text(KERNEL)
    header = ["-include", str(build.RUNTIME / "front.h")]
    must([*plain, *header, "-E", "-x", "c++", "kernel.cu", "-o", "kernel.ii"], folder)
    (folder / "rewritten.ii").write_text(rewrite((folder / "kernel.ii").read_text()))
    must([*plain, "-fpreprocessed", "-c", "rewritten.ii", "-o", "kernel.o"], folder)
    objects = [str(build.prebuilt(store) / "runtime.o"), str(capture.prebuilt(store) / "recorder.o")]
    (folder / "program").mkdir()
    must([str(compiler().path), "-pie", "kernel.o", *objects, "-ldl", "-o", "program/emulated"], folder)
    return folder / "program" / "emulated"


def under_tsan(folder: Path) -> float | None:
    (folder / "plain.cpp").write_text(PLAIN)
    command = [str(compiler().path), "-O1", "-fsanitize=thread", "plain.cpp", "-o", "plain"]
    if subprocess.run(command, cwd=folder, capture_output=True, check=False).returncode != 0:
        return None
    seconds = spent(lambda: must([str(folder / "plain")], folder))
    return ELEMENTS * (REPEATS + 1) / seconds


def must(command: list[str], folder: Path) -> None:
    subprocess.run(command, cwd=folder, check=True, capture_output=True)


def verdict_seconds(number: int, store: Store) -> float:
    corpus = Path(__file__).parents[1] / "tests" / "corpus" / "seal"
    source = (corpus / f"{VERIFIED[0]}.cu").read_text()
    task, *_ = load(VERIFIED[1])
    cases = [case for case in task.cases if case.role is Role.CHECK and case.dtype == "fp32"]
    return spent(lambda: emulate(task, variant(number, source), cases, store))


def measure(rounds: int) -> dict[str, float | None]:
    with tempfile.TemporaryDirectory() as name, tempfile.TemporaryDirectory() as fresh:
        store, folder = Store(root=default_root()), Path(name)
        empty = Store(root=Path(fresh))
        for one in (store, empty):
            build.prebuilt(one)
            capture.prebuilt(one)
        builds = [spent(lambda n=n: build.program(variant(n), store)) for n in range(rounds)]
        first = verdict_seconds(rounds, empty)
        verdict_seconds(rounds, store)
        checked = build.program(Candidate(source=KERNEL), store)
        plain = uninstrumented(folder, store)
        return {
            "build_s": statistics.median(builds),
            "first_s": first,
            "verdict_s": statistics.median(verdict_seconds(n, store) for n in range(rounds)),
            "checked_per_s": statistics.median(accesses_per_second(checked, store) for _ in range(rounds)),
            "plain_per_s": statistics.median(accesses_per_second(plain, store) for _ in range(rounds)),
            "tsan_per_s": under_tsan(folder),
        }


def missed(figures: dict[str, float | None]) -> list[str]:
    worse = {"build_s": 1.0, "verdict_s": 1.0, "checked_per_s": -1.0}
    return [name for name, bar in BARS.items() if not worse[name] * (figures[name] or 0.0) <= worse[name] * bar]


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--rounds", type=int, default=3)
    parser.add_argument("--json", action="store_true")
    options = parser.parse_args()
    figures = measure(options.rounds)
    report = {**figures, "bars": BARS, "missed": missed(figures)}
    print(json.dumps(report, indent=None if options.json else 2))
    return 1 if report["missed"] else 0


if __name__ == "__main__":
    sys.exit(main())
