"""The compilers' own sanitizers as oracles: plain CPU renditions of planted bugs, and the emulator agrees with them.

Each rendition is one kernel of 64 threads, written once. Under the address sanitizer its threads run one after another
on memory from the heap; under the thread sanitizer they are threads of the machine, with a real barrier. The same text
is the body of a CUDA kernel, which the emulator runs.
"""

from __future__ import annotations

import os
import re
import struct
import subprocess
from dataclasses import dataclass
from functools import cache
from pathlib import Path

import pytest

from warpwright.core.candidate import Candidate
from warpwright.core.gpus.table import gpu_named
from warpwright.core.signature import TensorSpec
from warpwright.emulate.program.build import program
from warpwright.emulate.program.calls import EmulatedCall
from warpwright.emulate.program.running import run
from warpwright.seal import toolchain
from warpwright.seal.cache import Store

pytestmark = pytest.mark.timeout(600)

THREADS = 64
VALUES = struct.pack(f"<{THREADS}f", *(i / 4 for i in range(THREADS)))
X = TensorSpec(name="x", shape=(THREADS,), stride=(1,), dtype="fp32")


@dataclass(frozen=True)
class Rendition:
    """The body of a kernel on x, y and the scratch arrays s (shared) and g (global), all of 64 elements."""

    name: str
    body: str
    sanitizer: str
    says: str
    """A pattern of the sanitizer's report; none where it must stay silent."""
    kinds: frozenset[str] = frozenset()


def _address(name: str, body: str, says: str = "", *kinds: str) -> Rendition:
    return Rendition(name, body, "address", says, frozenset(kinds))


def _thread(name: str, body: str, racing: bool) -> Rendition:
    return Rendition(name, body, "thread", "data race" if racing else "", frozenset({"race"} if racing else ()))


BEYOND, BEFORE, GONE = "heap-buffer-overflow", "heap-buffer-overflow", "heap-use-after-free"
TREE = "s[t] = x[t]; BARRIER if (t < 32) s[t] += s[t + 32];"
RENDITIONS = (
    _address("reads_one_beyond", "y[t] = x[t + 1];", BEYOND, "out-of-bounds"),
    _address("reads_the_next", "y[t] = x[t < 63 ? t + 1 : t];"),
    _address("writes_one_beyond", "y[t] = x[t]; if (t == 63) y[64] = 0.0f;", BEYOND, "out-of-bounds"),
    _address("writes_the_last", "y[t] = x[t]; if (t == 63) y[63] = 0.0f;"),
    _address("reads_before_the_start", "y[t] = t == 0 ? x[t - 1] : x[t];", BEFORE, "out-of-bounds"),
    _address("starts_at_the_start", "y[t] = t == 0 ? x[t] : x[t - 1];"),
    _address("vector_over_the_end", "y[t] = ((const Wide*)x)[t / 2 + (t == 63)].first;", BEYOND, "out-of-bounds"),
    _address("vectors_to_the_end", "y[t] = ((const Wide*)x)[t / 2].first;"),
    _address("uses_what_is_freed", "y[t] = gone[t];", GONE, "freed"),
    _address("uses_what_is_kept", "y[t] = x[t];"),
    _thread("neighbours_without_a_barrier", "s[t] = x[t]; y[t] = s[63 - t];", racing=True),
    _thread("neighbours_with_a_barrier", "s[t] = x[t]; BARRIER y[t] = s[63 - t];", racing=False),
    _thread("last_barrier_missing", f"{TREE} y[t] = s[0];", racing=True),
    _thread("last_barrier_there", f"{TREE} BARRIER y[t] = s[0];", racing=False),
    _thread("everybody_writes_a_sum", "y[t] = 0.0f; g[0] += x[t];", racing=True),
    _thread("everybody_has_its_own_sum", "y[t] = 0.0f; g[t] += x[t];", racing=False),
    _thread("written_while_still_read", "s[t] = x[t]; BARRIER y[t] = s[63 - t]; s[t] = 0.0f;", racing=True),
    _thread("written_when_read_by_all", "s[t] = x[t]; BARRIER y[t] = s[63 - t]; BARRIER s[t] = 0.0f;", racing=False),
)  # fmt: skip
DEVICE = """#include <torch/extension.h>
struct alignas(8) Wide { float first, second; };
#define BARRIER __syncthreads();
%s
PYBIND11_MODULE(TORCH_EXTENSION_NAME, m) {
%s}
"""
KERNEL = """__global__ void k_%(name)s(const float* x, float* y, float* g, const float* gone) {
  __shared__ float s[64];
  const int t = threadIdx.x;
  s[t] = 0.0f;
  __syncthreads();
  %(body)s
}
torch::Tensor %(name)s(torch::Tensor x) {
  auto y = torch::empty_like(x), g = torch::zeros_like(x);
  float* gone;
  { auto inner = torch::zeros_like(x); gone = inner.data_ptr<float>(); }
  k_%(name)s<<<1, 64>>>(x.data_ptr<float>(), y.data_ptr<float>(), g.data_ptr<float>(), gone);
  return y;
}
"""
HOST = """#include <barrier>
#include <cstdlib>
#include <cstring>
#include <thread>
#include <vector>
struct alignas(8) Wide { float first, second; };
static std::barrier<> meeting(64);
#define BARRIER meeting.arrive_and_wait();
%s
int main(int count, char** names) {
  float *x = new float[64](), *y = new float[64](), *g = new float[64](), *s = new float[64](), *gone = new float[64]();
  delete[] gone;
%s  return 2;
}
"""
FUNCTION = """static void k_%(name)s(const float* x, float* y, float* g, const float* gone, float* s, int t) {
  %(body)s
}
"""
IN_TURN = """  if (std::strcmp(names[1], "%(name)s") == 0) {
    for (int t = 0; t < 64; ++t) k_%(name)s(x, y, g, gone, s, t);
    return 0;
  }
"""
AT_ONCE = """  if (std::strcmp(names[1], "%(name)s") == 0) {
    std::vector<std::thread> all;
    for (int t = 0; t < 64; ++t) all.emplace_back(k_%(name)s, x, y, g, gone, s, t);
    for (auto& one : all) one.join();
    return 0;
  }
"""


@cache
def _sanitized(sanitizer: str, folder: Path) -> Path | None:
    """All renditions of one sanitizer as a program; None where the compiler has no such sanitizer here."""
    chosen = [vars_of(one) for one in RENDITIONS if one.sanitizer == sanitizer]
    call = IN_TURN if sanitizer == "address" else AT_ONCE
    text = HOST % ("".join(FUNCTION % one for one in chosen), "".join(call % one for one in chosen))
    (folder / f"{sanitizer}.cpp").write_text(text)
    command = [str(toolchain.host_compiler()), "-std=c++20", "-O0", "-g0", "-pthread", f"-fsanitize={sanitizer}"]
    command += [f"{sanitizer}.cpp", "-o", sanitizer]
    done = subprocess.run(command, cwd=folder, capture_output=True, check=False, timeout=300)
    return folder / sanitizer if done.returncode == 0 else None


def vars_of(one: Rendition) -> dict[str, str]:
    return {"name": one.name, "body": one.body}


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return tmp_path_factory.mktemp("sanitizers")


@pytest.fixture(scope="module")
def emulated(store: Store) -> dict[str, set[str]]:
    """What the emulator finds in each rendition, beyond what hardware tolerates."""
    kernels = "".join(KERNEL % vars_of(one) for one in RENDITIONS)
    entries = "".join(f'  m.def("{one.name}", &{one.name});\n' for one in RENDITIONS)
    built = program(Candidate(source=DEVICE % (kernels, entries)), store)
    calls = [EmulatedCall(entry=one.name, arguments=(X,), contents=(VALUES,)) for one in RENDITIONS]
    found = {}
    for one, ran in zip(RENDITIONS, run(built, calls, gpu_named("h200"), store), strict=True):
        assert ran.report is not None, ran.ended
        found[one.name] = {item.kind for item in ran.report.findings if item.severity != "tolerated"}
    return found


@pytest.mark.parametrize("one", RENDITIONS, ids=lambda one: one.name)
def test_the_sanitizer_and_the_emulator_agree(one: Rendition, folder: Path, emulated: dict[str, set[str]]) -> None:
    built = _sanitized(one.sanitizer, folder)
    if built is None:
        pytest.skip(f"this compiler builds nothing with the {one.sanitizer} sanitizer")
    options = {"ASAN_OPTIONS": "detect_leaks=0", "TSAN_OPTIONS": "exitcode=66"}
    command = [str(built), one.name]
    done = subprocess.run(
        command, capture_output=True, text=True, env={**os.environ, **options}, timeout=300, check=False
    )
    if "unexpected memory mapping" in done.stderr:
        pytest.skip("the thread sanitizer cannot run with this kernel's layout of memory")
    assert bool(re.search(one.says, done.stderr)) if one.says else done.returncode == 0, done.stderr[-2000:]
    assert emulated[one.name] >= one.kinds
    assert bool(emulated[one.name]) == bool(one.kinds), emulated[one.name]
