"""Sealing with the real compilers and the real sandbox: what becomes a plan, and what is refused and why."""

from __future__ import annotations

import subprocess
import sys
from typing import Any

import pytest

from warpwright import languages
from warpwright.core.candidate import Candidate, Flags
from warpwright.core.errors import OurFault
from warpwright.core.launch.plan import Fill, Launch, Origin, Relocation, Upload
from warpwright.core.launch.sealed import Sealed
from warpwright.core.records.evidence import Verdict
from warpwright.core.task import Direction
from warpwright.sandbox import run as sandbox
from warpwright.seal import sealing as of_seal
from warpwright.seal import toolchain
from warpwright.seal.cache import Store
from warpwright.seal.capture import program as capture
from warpwright.seal.device import nvcc as device
from warpwright.seal.refusal import Refusal
from warpwright.seal.sealing import MOST_SOURCE_BYTES, seal
from warpwright.seal.summary import summarise

NAME = "void scale<float>(float const*, float*, int)"
LAUNCH = "scale<float><<<(n + 255) / 256, 256>>>(x.data_ptr<float>(), y.data_ptr<float>(), n);"
pytestmark = pytest.mark.skipif(toolchain.nvcc() is None, reason="no nvcc on this machine")


def refusal(outcome: Sealed | Refusal) -> Refusal:
    assert isinstance(outcome, Refusal), "it was sealed"
    return outcome


def refuted_as(outcome: Sealed | Refusal, kind: str) -> Any:
    found = refusal(outcome)
    assert found.verdict is Verdict.REFUTED, found.reason
    assert found.counterexample is not None
    assert found.counterexample.kind == kind, found.counterexample.message
    return found.counterexample


def test_a_plain_extension_becomes_a_cubin_and_plans(sealing: Any) -> None:
    sealed = sealing()
    assert isinstance(sealed, Sealed), sealed
    assert sealed.entries == ("forward",)
    assert sealed.cubin is not None
    assert sealed.cubin.startswith(b"\x7fELF")
    launch = sealed.plan("large", "forward").nodes[0]
    assert launch == Launch(
        kernel=NAME,
        grid=(391, 1, 1),
        block=(256, 1, 1),
        arguments=(bytes(8), bytes(8), (100_000).to_bytes(4, "little")),
        relocations=(
            Relocation(argument=0, offset=0, buffer=0, addend=0),
            Relocation(argument=1, offset=0, buffer=1, addend=0),
        ),
    )
    assert sealed.kernel(NAME).parameters == (8, 8, 4)
    assert [buffer.origin for buffer in sealed.plans[0].buffers] == [Origin.ARGUMENT, Origin.SCRATCH]


def test_the_second_time_comes_from_the_store(sealing: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    first = sealing()
    monkeypatch.setattr(of_seal, "_made", lambda *_: pytest.fail("it was sealed again"))
    assert sealing() == first


def test_a_refusal_comes_from_the_store_too(sealing: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    bodies = ("scale<float><<<1, 2000>>>(x.data_ptr<float>(), y.data_ptr<float>(), n);", "y = x.digamma();")
    first = [refusal(sealing(body=body)) for body in bodies]
    assert [found.verdict for found in first] == [Verdict.REFUTED, Verdict.UNDECIDED]
    monkeypatch.setattr(of_seal, "_made", lambda *_: pytest.fail("it was sealed again"))
    assert [sealing(body=body) for body in bodies] == first


def test_a_machine_that_is_too_slow_is_no_verdict_and_is_not_remembered(
    source: Any, sealing: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    text = "// on a slow machine\n" + source()
    with monkeypatch.context() as slow:
        slow.setattr(device, "LIMITS", sandbox.Limits(wall_s=0.01))
        with pytest.raises(OurFault, match="too little of this machine"):
            sealing(text)
    assert isinstance(sealing(text), Sealed)


def test_a_source_may_be_in_the_cpp_that_torch_compiles(sealing: Any) -> None:
    sealed = sealing(
        before="#include <concepts>\n#include <compare>\n"
        "struct Tile { int rows = 1, columns = 1; auto operator<=>(const Tile&) const = default; };"
        "template <typename T> concept Real = std::floating_point<T>;"
        "template <Real T> __global__ void fill(T* y, Tile tile, auto value) requires(sizeof(T) == 4) {"
        "  if (threadIdx.x < tile.columns) y[threadIdx.x] = value; }"
        "auto halved(auto n) { return n / 2; }",
        body="constexpr Tile tile{.rows = 2, .columns = 3}; static_assert(tile > Tile{});"
        "fill<<<1, halved(64)>>>(y.data_ptr<float>(), tile, 2.0f);",
    )
    assert isinstance(sealed, Sealed), sealed
    launch = sealed.plans[0].nodes[0]
    assert isinstance(launch, Launch)
    assert (launch.block, launch.arguments[1]) == ((32, 1, 1), bytes([2, 0, 0, 0, 3, 0, 0, 0]))
    assert "-std=c++20" in sealed.manifest.command


def test_a_damaged_artefact_is_made_again(sealing: Any, store: Store) -> None:
    sealed = sealing()
    folder = store.find(sealed.id)
    assert folder is not None
    (folder / "kernel.cubin").write_bytes(b"damaged")
    again = sealing()
    assert again.cubin == sealed.cubin


def test_a_summary_has_what_a_person_asks_for(sealing: Any) -> None:
    summary = summarise(sealing())
    assert [kernel.name for kernel in summary.kernels] == [NAME]
    assert summary.plans[0].launches[0].occupancy == 1.0
    assert (summary.plans[0].scratch_buffers, summary.plans[0].scratch_bytes) == (1, 28)


def test_fills_uploads_and_device_variables_are_nodes(sealing: Any) -> None:
    sealed = sealing(
        before="__constant__ float table[4]; __global__ void use(float* y) { y[0] = table[1]; }",
        body="y.zero_(); float host[2] = {1, 2}; cudaMemcpyToSymbol(table, host, 8, 4);"
        "use<<<1, 1>>>(y.data_ptr<float>());",
    )
    assert isinstance(sealed, Sealed), sealed
    fill, upload, launch = sealed.plans[0].nodes
    assert isinstance(fill, Fill)
    assert isinstance(upload, Upload)
    assert isinstance(launch, Launch)
    assert (upload.offset, upload.data) == (4, bytes.fromhex("0000803f00000040"))
    assert sealed.plans[0].buffers[upload.buffer].symbol == "table"
    assert sealed.variables == {"table": "table"}


def test_pointers_in_structs_and_tables_are_relocated(sealing: Any) -> None:
    sealed = sealing(
        before="struct P { char tag; float* y; int n; }; __global__ void use(P p, float** t) { t[1][p.n] = *p.y; }",
        body="auto t = torch::empty({2}, x.options().dtype(torch::kLong));"
        "float* h[2] = {nullptr, y.data_ptr<float>() + 1};"
        "cudaMemcpyAsync(t.data_ptr(), h, sizeof(h), cudaMemcpyHostToDevice, 0);"
        "use<<<1, 1>>>(P{1, y.data_ptr<float>(), n}, (float**)t.data_ptr<int64_t>());",
    )
    assert isinstance(sealed, Sealed), sealed
    upload, launch = sealed.plans[0].nodes
    assert isinstance(upload, Upload)
    assert isinstance(launch, Launch)
    assert upload.relocations == (Relocation(offset=8, buffer=1, addend=4),)
    assert launch.arguments[0] == bytes([1]) + bytes(15) + bytes([7]) + bytes(7)
    assert launch.relocations[0] == Relocation(argument=0, offset=8, buffer=1, addend=0)


def test_a_training_pair_passes_what_it_saves(task: Any, store: Store) -> None:
    text = """#include <torch/extension.h>
__global__ void k(const float* a, float* b, int n) { int i = threadIdx.x; if (i < n) b[i] = a[i]; }
std::vector<torch::Tensor> forward(torch::Tensor x) {
  auto y = torch::empty_like(x), saved = torch::empty({3, 2}, x.options().dtype(torch::kHalf));
  k<<<1, 32>>>(x.data_ptr<float>(), y.data_ptr<float>(), x.numel());
  return {y, saved};
}
torch::Tensor backward(torch::Tensor grad, torch::Tensor saved) {
  TORCH_CHECK(saved.size(0) == 3 && saved.scalar_type() == torch::kHalf);
  auto g = torch::empty_like(grad);
  k<<<1, 32>>>(grad.data_ptr<float>(), g.data_ptr<float>(), grad.numel());
  return g;
}
PYBIND11_MODULE(TORCH_EXTENSION_NAME, m) { m.def("forward", &forward); m.def("backward", &backward); }
"""
    sealed = seal(task(Direction.TRAINING), Candidate(source=text), store=store)
    assert isinstance(sealed, Sealed), sealed
    assert [(plan.case, plan.entry) for plan in sealed.plans] == [
        ("small", "forward"), ("large", "forward"), ("small", "backward"), ("large", "backward"),
    ]  # fmt: skip
    assert [view.shape for view in sealed.plan("small", "backward").arguments] == [(7,), (3, 2)]


def test_many_are_sealed_in_order(source: Any, task: Any, store: Store) -> None:
    bodies = [source(), source(body="this is no C++"), source(body="y = x.add(x);")]
    outcomes = languages.seal_many(task(), [Candidate(source=text) for text in bodies], store=store)
    assert [type(outcome) for outcome in outcomes] == [Sealed, Refusal, Sealed]


@pytest.mark.parametrize(
    ("body", "kind", "says"),
    [
        ("foo(n);", "compile", "foo"),
        ("auto z = torch::emtpy({n});", "compile", "emtpy"),
        ("scale<float><<<1, 1025>>>(x.data_ptr<float>(), y.data_ptr<float>(), n);", "block", "1025"),
        ("scale<float><<<dim3(1, 70000), 32>>>(x.data_ptr<float>(), y.data_ptr<float>(), n);", "grid", "70000"),
        ("scale<float><<<n / 100, 32>>>(x.data_ptr<float>(), y.data_ptr<float>(), n);", "grid", "0 in x"),
        ("scale<float><<<1, 32, 50000>>>(x.data_ptr<float>(), y.data_ptr<float>(), n);", "shared-memory", "50000"),
        ("scale<float><<<1, 32, 300000>>>(x.data_ptr<float>(), y.data_ptr<float>(), n);", "shared-memory", "h200"),
        ("TORCH_CHECK(n > 1000, \"too small: \", n);" + LAUNCH, "check", "too small: 7"),
        ("float v = x.sum().item<float>();", "reads-device-data", "item"),
        ("auto h = x.cpu();", "reads-device-data", "device data"),
        ("y = torch::empty({n + 1}, x.options());" + LAUNCH, "returns", "[8]"),
        ("y = torch::empty({n}, x.options().dtype(torch::kHalf));", "returns", "fp16"),
        ("", "returns", "is never written"),
        ("throw std::runtime_error(\"no\");", "exception", "no"),
        ("*(volatile int*)nullptr = 1;", "host-crash", "signal 11"),
        ("exit(0);", "host-exit", "status 0"),
        ("for (;;) { asm volatile(\"\"); }", "host-limit", "limit"),
        ("static int calls; " + LAUNCH.replace(", n)", ", calls++)"), "stateful-host-code", "argument 2"),
        ("static torch::Tensor kept = torch::zeros_like(x); y = kept;", "stateful-host-code", "state"),
        ("static bool done; if (!done) { " + LAUNCH + " } done = true;", "stateful-host-code", "state"),
    ],
)  # fmt: skip
def test_what_is_wrong_is_refuted_with_its_reason(
    sealing: Any, monkeypatch: pytest.MonkeyPatch, body: str, kind: str, says: str
) -> None:
    monkeypatch.setattr(capture, "RUN_LIMITS", sandbox.Limits(cpu_s=2.0, wall_s=200.0, memory_bytes=1 << 30))
    counterexample = refuted_as(sealing(body=body), kind)
    assert says in counterexample.message


def test_an_error_is_reported_in_the_users_own_lines(sealing: Any) -> None:
    counterexample = refuted_as(sealing(body="\n  y = nonsense(x);"), "compile")
    assert counterexample.line == 11
    assert counterexample.facts["errors"][0]["text"] == "y = nonsense(x);"


@pytest.mark.parametrize(
    ("body", "says"),
    [
        ("y = torch::special_bessel_j0(x);", "special_bessel_j0"),
        ("y = x.digamma();", "digamma"),
    ],
)
def test_what_our_headers_lack_is_undecided(sealing: Any, body: str, says: str) -> None:
    found = refusal(sealing(body=body))
    assert found.verdict is Verdict.UNDECIDED
    assert found.reason is not None
    assert says in found.reason


def test_a_missing_entry_names_what_is_there(source: Any, sealing: Any) -> None:
    counterexample = refuted_as(sealing(source().replace('m.def("forward"', 'm.def("run"')), "entry")
    assert "run" in counterexample.message


def test_the_wrong_number_of_arguments_is_refuted(source: Any, sealing: Any) -> None:
    text = source().replace("forward(torch::Tensor x)", "forward(torch::Tensor x, double eps)")
    assert "argument" in refuted_as(sealing(text), "arguments").message


_TEXTS = {
    "empty": "",
    "blank": "\n",
    "only an include": "#include <torch/extension.h>",
    "binary": "\x00\x01\x02",
    "stray surrogate": "\ud800",
    "braces": "}" * 1000,
    "raw string": 'R"x(',
    "open #if": "#if 0\n",
    "byte order mark": "\ufeff",
    "half a launch": "k<<<",
    "one long word": "x" * 200_000,
}


@pytest.mark.parametrize("text", _TEXTS.values(), ids=_TEXTS.keys())
def test_any_other_text_is_refused_in_one_sentence(sealing: Any, text: str) -> None:
    found = refusal(sealing(text))
    message = found.reason or (found.counterexample and found.counterexample.message)
    assert message
    assert "\n" not in message
    assert "Traceback" not in message


def test_a_source_beyond_the_limit_is_refused_at_once(sealing: Any) -> None:
    assert "MiB" in refuted_as(sealing("x" * (MOST_SOURCE_BYTES + 1)), "source-size").message


def test_without_nvcc_there_are_plans_and_no_cubin(
    source: Any, task: Any, sealing: Any, store: Store, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(toolchain, "nvcc", lambda: None)
    candidate = Candidate(source="// without nvcc\n" + source())
    sealed = seal(task(), candidate, store=store)
    assert isinstance(sealed, Sealed), sealed
    assert (sealed.cubin, sealed.kernels) == (None, ())
    assert sealed.plan("small", "forward").nodes[0].kernel == NAME  # type: ignore[union-attr]


def test_flags_are_part_of_what_is_sealed(source: Any, task: Any, store: Store) -> None:
    text = source(before="#ifndef WIDE\n#error not wide\n#endif")
    sealed = seal(task(), Candidate(source=text, flags=Flags(gpu="l4", extra=("-DWIDE=1",))), store=store)
    assert isinstance(sealed, Sealed), sealed
    assert (sealed.manifest.arch, sealed.manifest.flags.extra) == ("sm_89", ("-DWIDE=1",))


def test_sealing_never_imports_torch() -> None:
    code = "import sys, warpwright.seal.sealing, warpwright.seal.summary; sys.exit('torch' in sys.modules)"
    assert subprocess.run([sys.executable, "-c", code], check=False).returncode == 0
