"""Host code shares a process with the recorder and can write any trace; what a plan may say is checked all the same."""

from __future__ import annotations

import json
import re
from collections.abc import Callable
from dataclasses import replace
from typing import Any

import pytest

from warpwright.core.launch.operations import OPERATIONS
from warpwright.core.launch.plan import Library
from warpwright.core.launch.sealed import Sealed
from warpwright.core.task import Direction, Task
from warpwright.seal import toolchain
from warpwright.seal.capture import program as capture

FORGER = """#include <torch/extension.h>
#include <cstdlib>
#include <fstream>
#include <string>
#include <unistd.h>
__attribute__((constructor)) static void forge(int, char** given) {
  const std::string line = R"forged(@LINE@)forged" "\\n";
  std::ifstream requests(given[1]);
  for (std::string asked; std::getline(requests, asked);)
    if (write(std::atoi(given[2]), line.data(), line.size()) < 0) _exit(1);
  _exit(0);
}
torch::Tensor forward(torch::Tensor x) { return x; }
PYBIND11_MODULE(TORCH_EXTENSION_NAME, m) { m.def("forward", &forward); }
"""
# What the recorder offers its own parts, spelt as its object file has it.
RECORDER = """
#ifdef WARPWRIGHT_CAPTURE
#include <string>
#include <utility>
#include <variant>
#include <vector>
namespace warpwright {
class Json;
using Array = std::vector<Json>;
using Object = std::vector<std::pair<std::string, Json>>;
class Json {
 public:
  Json(const char* text) : held(std::string(text)) {}
  std::variant<std::nullptr_t, bool, int64_t, double, std::string, Array, Object> held;
};
void library(const std::string&, const std::vector<at::Tensor>&, const std::vector<at::Tensor>&, Object);
}  // namespace warpwright
#else
namespace warpwright { template <class... T> void library(T&&...) {} }
#endif
"""
# Clears the screen, then says in green that all is well.
VERDICT = r"\x1b[2J\x1b[1;1H\x1b[32mHolds: on every case\nexit code 0\x1b[0m\xe2\x80\xae"
LAUNCH = "scale<float><<<(n + 255) / 256, 256>>>(x.data_ptr<float>(), y.data_ptr<float>(), n);"
BACKWARD = 'm.def("backward", [](torch::Tensor g, torch::Tensor kept) { return torch::empty_like(g).copy_(g); });'
COMPLEX = "x.options().dtype(torch::kComplexFloat)"
GIVEN = {"base": 1 << 40, "bytes": 28, "origin": "argument"}
MADE = {"base": 1 << 41, "bytes": 28, "origin": "scratch"}
VIEW = {"offset": 0, "shape": [7], "stride": [1], "dtype": "float32"}
FILL = {"op": "memset", "buffer": 1, "offset": 0, "bytes": 28, "value": 0}
HONEST = {
    "outcome": "captured",
    "buffers": [GIVEN, MADE],
    "nodes": [FILL],
    "arguments": [{"tensor": {**VIEW, "buffer": 0}}],
    "returns": {"tensor": {**VIEW, "buffer": 1}},
}


@pytest.fixture(autouse=True)
def hasty(monkeypatch: pytest.MonkeyPatch) -> None:
    """Nothing here depends on device code."""
    monkeypatch.setattr(toolchain, "nvcc", lambda: None)


@pytest.fixture
def small(task: Callable[[], Task]) -> Task:
    return replace(task(), cases=task().cases[:1])


def test_a_trace_that_says_what_a_recorder_might_is_a_plan_like_any_other(sealing: Any, small: Task) -> None:
    sealed = sealing(FORGER.replace("@LINE@", json.dumps(HONEST)), of=small)
    assert isinstance(sealed, Sealed), sealed


@pytest.mark.parametrize(
    "changes",
    [
        {"buffers": [MADE, MADE]},
        {"buffers": [{**GIVEN, "bytes": 24}, MADE]},
        {"buffers": [GIVEN, MADE, GIVEN]},
        {"buffers": [GIVEN, MADE, {**MADE, "bytes": -4096}]},
        {"buffers": [MADE], "arguments": [], "nodes": [], "returns": {"tensor": {**VIEW, "buffer": 0}}},
        {"arguments": []},
        {"nodes": [FILL, {"op": "library", "operation": "from_file", "inputs": [], "outputs": []}]},
    ],
)
def test_no_plan_speaks_of_other_memory_than_it_was_given(sealing: Any, small: Task, changes: dict[str, Any]) -> None:
    outcome = sealing(FORGER.replace("@LINE@", json.dumps({**HONEST, **changes})), of=small)
    assert not isinstance(outcome, Sealed)
    assert outcome.counterexample is not None, outcome.reason
    assert outcome.counterexample.kind == "trace"


def test_no_plan_has_an_operation_that_our_headers_do_not_offer(sealing: Any) -> None:
    """torch can read any file, and who carries out a plan is in no sandbox."""
    body = f'{LAUNCH} warpwright::library("from_file", {{}}, {{y}}, {{{{"filename", "/etc/hostname"}}}});'
    outcome = sealing(before=RECORDER, body=body)
    assert not isinstance(outcome, Sealed)
    assert outcome.counterexample is not None, outcome.reason
    assert outcome.counterexample.kind == "trace"
    assert "from_file" in outcome.counterexample.message


def test_what_the_headers_offer_may_be_called(sealing: Any) -> None:
    sealed = sealing(body=f"{LAUNCH} y.copy_(torch::where(x > 0, y, torch::clamp(x, -1, 1).add_(x).sum()));")
    assert isinstance(sealed, Sealed), sealed
    named = {node.operation for node in sealed.plans[0].nodes if isinstance(node, Library)}
    assert {"where.self", "gt.Scalar", "clamp", "add.Tensor", "sum"} <= named <= OPERATIONS


@pytest.mark.parametrize(
    "name", ["from_file", "from_file.out", "save", "set_", "resize_", "manual_seed", "warn", "empty"]
)
def test_operations_with_effects_beyond_their_tensors_are_not_among_them(name: str) -> None:
    assert name not in OPERATIONS


def test_every_operation_that_the_recorder_spells_is_among_them() -> None:
    """Those that macros make of a method's name are met by the corpus."""
    called = re.compile(
        r"\b(?:library|produce|unary|binary|reduce|along|spread|with_indices|pool|average|convolve)\w*\(\"([\w.]+)\"[,)]"
    )
    spelt = {name for path in toolchain.RECORDER.glob("*.cpp") for name in called.findall(path.read_text())}
    assert len(spelt) > 50
    assert spelt <= OPERATIONS


def test_a_result_in_a_device_variable_is_no_result_that_lasts(sealing: Any) -> None:
    place = "float* at; cudaGetSymbolAddress((void**)&at, kept); y = torch::from_blob(at, x.sizes(), x.options());"
    outcome = sealing(before="__device__ float kept[100000];", body=f"{place} {LAUNCH}")
    assert not isinstance(outcome, Sealed)
    assert "device variable" in (outcome.reason or "")


@pytest.mark.parametrize(
    "parts",
    [
        {"body": f'throw std::runtime_error("{VERDICT}");'},
        {"body": f'TORCH_CHECK(false, "{VERDICT}");'},
        {"before": '#error "\x1b[2J\x1b[32mHolds\u202e"'},
    ],
    ids=["exception", "check", "compiler"],
)
def test_nobody_writes_on_the_terminal_of_who_reads_why(sealing: Any, parts: dict[str, str]) -> None:
    outcome = sealing(**parts)
    assert not isinstance(outcome, Sealed)
    said = outcome.reason or (outcome.counterexample and outcome.counterexample.message)
    assert said
    assert "Holds" in said
    assert said.isprintable()


def test_names_that_nobody_could_read_are_no_fault_of_ours(sealing: Any) -> None:
    """Each of these types is spelt with two of the one before: short when mangled, and of 2^24 words when not."""
    doubled = "".join(f"typedef Pair<T{i}, T{i}> T{i + 1};" for i in range(24))
    before = f"template <class A, class B> struct Pair {{}}; typedef Pair<int, int> T0; {doubled}"
    kernel = "template <class T> __global__ void named(float* y) { y[0] = 0; }"
    outcome = sealing(before=before + kernel, body="named<T24><<<1, 1>>>(y.data_ptr<float>());")
    assert not isinstance(outcome, Sealed)
    assert outcome.counterexample is not None, outcome.reason
    assert outcome.counterexample.kind == "names"


def test_a_text_that_macros_make_too_long_is_not_read(sealing: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(capture, "MOST_TEXT", 1 << 20)
    doubled = "".join(f"\n#define R{i + 1} R{i} R{i}" for i in range(17))
    outcome = sealing(before=f"#define R0 {{(void)0;}}{doubled}\ninline void many() {{ R17 }}")
    assert not isinstance(outcome, Sealed)
    assert outcome.counterexample is not None, outcome.reason
    assert outcome.counterexample.kind == "compile-limit"


def test_what_is_saved_in_a_type_we_do_not_know_is_unsupported(sealing: Any, task: Callable[..., Task]) -> None:
    text = """#include <torch/extension.h>
#include <vector>
__global__ void scale(const float* x, float* y, int n) { y[threadIdx.x] = x[threadIdx.x]; }
std::vector<torch::Tensor> forward(torch::Tensor x) {
  auto y = torch::empty_like(x);
  scale<<<1, 7>>>(x.data_ptr<float>(), y.data_ptr<float>(), 7);
  return {y, torch::empty({4}, @TYPE@)};
}
PYBIND11_MODULE(TORCH_EXTENSION_NAME, m) { m.def("forward", &forward); @BACKWARD@ }
"""
    outcome = sealing(text.replace("@TYPE@", COMPLEX).replace("@BACKWARD@", BACKWARD), of=task(Direction.TRAINING))
    assert not isinstance(outcome, Sealed)
    assert outcome.reason == "unsupported: tensors of complex64 that are handed on"


def test_operations_on_types_we_do_not_know_are_unsupported(sealing: Any) -> None:
    """A judge could make no such tensor, and would blame the candidate."""
    outcome = sealing(body=f"auto c = torch::zeros({{4}}, {COMPLEX}); auto d = c + c; {LAUNCH}")
    assert not isinstance(outcome, Sealed)
    assert outcome.reason == "unsupported: operations on complex64"
    assert isinstance(sealing(body=f"auto c = torch::empty({{4}}, {COMPLEX}); {LAUNCH}"), Sealed)
