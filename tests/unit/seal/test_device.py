"""What nvcc is told, and what is read out of its report and its cubin."""

from __future__ import annotations

import struct
from pathlib import Path

import pytest

from warpwright.core.candidate import Flags
from warpwright.core.errors import UsageError
from warpwright.seal import toolchain
from warpwright.seal.device import elf
from warpwright.seal.device.names import canonical, demangled
from warpwright.seal.device.nvcc import _kernel, arguments, compile_device, ptxas_facts

REPORT = """ptxas info    : 0 bytes gmem
ptxas info    : Compiling entry function '_Z1bi' for 'sm_90a'
ptxas info    : Function properties for _Z1bi
    0 bytes stack frame, 0 bytes spill stores, 0 bytes spill loads
ptxas info    : Used 4 registers, used 0 barriers
ptxas info    : Compiling entry function '_Z1aPKfi' for 'sm_90a'
ptxas info    : Function properties for _Z1aPKfi
    16 bytes stack frame, 8 bytes spill stores, 12 bytes spill loads
ptxas info    : Used 255 registers, used 1 barriers, 16 bytes cumulative stack size, 256 bytes smem
"""
KERNELS = """
struct P { float* a; int n; char c; };
namespace { __constant__ float weights[4]; }
static __global__ void __launch_bounds__(256, 2) first(const float* x, int n, P p, double d) {
  __shared__ float s[64];
  s[threadIdx.x] = x[n]; __syncthreads();
  p.a[n] = s[3] + d + weights[n];
}
namespace { template <class T> __global__ void __cluster_dims__(2, 1, 1) second(T n) {} }
void launch() { first<<<1, 2>>>(nullptr, 1, P{}, 2.0); second<<<1, 2>>>(3); }
"""
needs_nvcc = pytest.mark.skipif(toolchain.nvcc() is None, reason="no nvcc on this machine")


def test_the_assemblers_report_is_read_per_kernel() -> None:
    assert ptxas_facts(REPORT) == {
        "_Z1bi": {"registers": 4, "stack": 0, "spill_stores": 0, "spill_loads": 0},
        "_Z1aPKfi": {"registers": 255, "stack": 16, "spill_stores": 8, "spill_loads": 12, "static_shared": 256},
    }


def test_parameters_bounds_and_clusters_are_read_from_the_cubin() -> None:
    def parameter(ordinal: int, size: int) -> bytes:
        return struct.pack("<BBHIHHI", 4, 0x17, 12, 0, ordinal, 0, size << 18 | 0x1F000)

    info = parameter(1, 4) + parameter(0, 8) + struct.pack("<BBH", 3, 0x1B, 128)
    info += struct.pack("<BBHIII", 4, 0x05, 12, 256, 1, 1) + struct.pack("<BBHIII", 4, 0x3D, 12, 2, 1, 1)
    kernel = _kernel("k", info, {"registers": 9})
    assert (kernel.parameters, kernel.max_threads, kernel.cluster, kernel.registers) == ((8, 4), 256, (2, 1, 1), 9)


@pytest.mark.parametrize(("gpu", "arch"), [("t4", "sm_75"), ("h200", "sm_90a"), ("b200", "sm_100a"), ("l4", "sm_89")])
def test_the_target_decides_the_architecture(gpu: str, arch: str) -> None:
    assert arguments(Flags(gpu=gpu))[0] == f"-arch={arch}"


def test_fast_math_is_only_there_when_asked_for() -> None:
    assert "--use_fast_math" not in arguments(Flags())
    assert "--use_fast_math" in arguments(Flags(fast_math=True))


@pytest.mark.parametrize("flag", ["-DN=4", "-O2", "--maxrregcount=64", "-lineinfo", "--extended-lambda", "--ftz=true"])
def test_harmless_flags_are_passed_on(flag: str) -> None:
    assert flag in arguments(Flags(extra=(flag,)))


@pytest.mark.parametrize("flag", ["-I/etc", "-o/tmp/x", "--run", "-ccbin=evil", "-DX=$(id)", "-Xcompiler=-fplugin=x"])
def test_other_flags_are_wrong_use(flag: str) -> None:
    with pytest.raises(UsageError, match="not one a candidate may set"):
        arguments(Flags(extra=(flag,)))


@pytest.mark.parametrize(
    ("name", "plain"),
    [
        ("k(float*)", "k(float*)"),
        ("void k<float>(float const* restrict, float* __restrict)", "void k<float>(float const*, float*)"),
        ("_INTERNAL_3539e2fe_4_u_cu__Z1ki::a::dd", "a::dd"),
        ("a::_GLOBAL__N__3539e2fe_4_u_cu__Z1ki::k<int>(int*)", "a::(anonymous namespace)::k<int>(int*)"),
    ],
)
def test_what_nvcc_adds_to_names_is_taken_off(name: str, plain: str) -> None:
    assert canonical(name) == plain


def test_any_symbol_gets_a_name(tmp_path: Path) -> None:
    odd = ["", "a\nb", "_Z1kPf", "plain", "_Z" + "1" * 50, "\u2028", "tab\there", "with space"]
    names = demangled(odd, tmp_path)
    assert names.keys() == set(odd)
    assert (names["_Z1kPf"], names["plain"], names["a\nb"]) == ("k(float*)", "plain", "a\nb")


@needs_nvcc
def test_a_cubin_says_what_its_kernels_need(tmp_path: Path) -> None:
    (tmp_path / "kernel.cu").write_text(KERNELS)
    code = compile_device(tmp_path, Flags())
    assert code is not None
    names = demangled([*(kernel.symbol for kernel in code.kernels), *code.variables], tmp_path)
    kernels = {names[kernel.symbol]: kernel for kernel in code.kernels}
    assert kernels.keys() == {"first(float const*, int, P, double)", "void (anonymous namespace)::second<int>(int)"}
    first = kernels["first(float const*, int, P, double)"]
    assert (first.parameters, first.max_threads, first.static_shared) == ((8, 4, 16, 8), 256, 256)
    assert first.registers is not None
    assert kernels["void (anonymous namespace)::second<int>(int)"].cluster == (2, 1, 1)
    assert [(names[name], size) for name, size in code.variables.items()] == [("(anonymous namespace)::weights", 16)]


@pytest.mark.parametrize("data", [b"", b"\x7fELF\x02\x01", b"\x7fELF\x02\x01" + b"\xff" * 100, b"MZ" + bytes(200)])
def test_a_broken_file_is_told_from_a_cubin(data: bytes) -> None:
    with pytest.raises(elf.NotElf):
        elf.parse(data)
