"""Links nvcc's own host object with a CUDA runtime of ours that records.

Names and launches are exact for every source, because no text is rewritten. This takes several times as long as the
rewriting front, so it is the fallback, and the oracle for tests of the front.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from pathlib import Path

from warpwright.core.candidate import Flags
from warpwright.core.gpus.table import gpu_named
from warpwright.core.launch.plan import Kernel
from warpwright.sandbox import run as sandbox
from warpwright.seal import toolchain
from warpwright.seal.cache import Store
from warpwright.seal.capture.program import PROGRAM, Program, kept, prebuilt
from warpwright.seal.device import elf
from warpwright.seal.device import nvcc as device
from warpwright.seal.refusal import undecided

_OBJECT_LIMIT = 256 << 20
_POSITION = ("-Xcompiler", "-fPIE,-O0")
_STUBS = toolchain.HOSTLINK / "include-hostlink"
# The structures of these functions differ between the toolkit's headers and ours, so the answers use the toolkit's.
_DIFFERENT = ("cudaGetDeviceProperties", "cudaFuncGetAttributes", "getCurrentDeviceProperties", "getDeviceProperties")


def build(folder: Path, flags: Flags, kernels: Sequence[Kernel], store: Store) -> Program:
    """The capture program of `kernel.cu` in the folder, built once; `kernels` are those of the cubin."""
    key = toolchain.key_of((folder / "kernel.cu").read_bytes(), flags) + "-hostlink"
    return kept(key, lambda: _built(folder, flags, kernels, store), store)


def _built(folder: Path, flags: Flags, kernels: Sequence[Kernel], store: Store) -> bytes:
    tools = prebuilt(store)
    host = _host_object(folder, flags)
    (folder / "signatures.cpp").write_text(_signatures(kernels))
    parts = [
        "kernel.o",
        "signatures.cpp",
        *_answers(host, folder),
        str(tools / "runtime.o"),
        str(tools / "recorder.o"),
    ]
    command = [str(toolchain.host_compiler()), toolchain.STANDARD, "-O0", "-w", "-pie", *parts, *_aliases(host, tools)]
    _run([*command, "-ldl", "-o", PROGRAM], folder, tools)
    program = sandbox.harvest(folder / PROGRAM, _OBJECT_LIMIT)
    if program is None:
        raise undecided("unsupported: nvcc's own host code cannot be linked here")
    return program


def _host_object(folder: Path, flags: Flags) -> elf.Elf:
    """Compiles the host object; device code stops at PTX, since only the host side is needed."""
    virtual = gpu_named(flags.gpu).arch.replace("sm_", "compute_")
    options = [flag for flag in device.arguments(flags) if not flag.startswith("-arch=")]
    options += ["-gencode", f"arch={virtual},code={virtual}", "-I", str(_STUBS), *device.include_flags()]
    _run([_nvcc(), "-c", *options, "-DWARPWRIGHT_CAPTURE", *_POSITION, "kernel.cu", "-o", "kernel.o"], folder, _STUBS)
    data = sandbox.harvest(folder / "kernel.o", _OBJECT_LIMIT)
    if data is None:
        raise undecided("unsupported: nvcc wrote no host object")
    return elf.parse(data)


def _answers(host: elf.Elf, folder: Path) -> list[str]:
    """The object that answers in the toolkit's structures, if the host object needs it."""
    asked = [name for name in sorted(host.undefined) if any(different in name for different in _DIFFERENT)]
    if not asked:
        return []
    for name in ("toolkit.cpp", "facts.h"):
        (folder / name).write_bytes((toolchain.HOSTLINK / name).read_bytes())
    _run([_nvcc(), "-x", "c++", "-c", *_POSITION, "toolkit.cpp", "-o", "toolkit.o"], folder, _STUBS)
    return ["toolkit.o", *(f"-Wl,--wrap={name}" for name in asked if name.startswith("_Z"))]


def _nvcc() -> str:
    nvcc = toolchain.nvcc()
    if nvcc is None:
        raise undecided("unsupported: no nvcc here to fall back on")
    return str(nvcc)


def _run(command: Sequence[str], folder: Path, tools: Path) -> None:
    done = sandbox.run(command, readable=(*toolchain.readable(), tools), writable=folder, limits=device.LIMITS)
    done.blame_machine("compiling host code by nvcc")
    if done.returncode != 0:
        complaint = done.stderr.decode("utf-8", "replace").strip().splitlines()
        raise undecided(f"unsupported: {done.reason or (complaint[-1] if complaint else 'the compiler failed')}")


def _signatures(kernels: Iterable[Kernel]) -> str:
    """A table of the parameter sizes of every kernel, which a launch does not carry."""
    arrays, rows = [], []
    for number, kernel in enumerate(kernels):
        sizes = ", ".join(map(str, kernel.parameters)) or "0"
        arrays.append(f"static const int sizes_{number}[] = {{{sizes}}};")
        rows.append(f'{{"{kernel.symbol}", {len(kernel.parameters)}, sizes_{number}}},')
    head = "namespace warpwright { struct Signature { const char* kernel; int count; const int* bytes; }; }"
    table = "\n".join(
        ("extern const warpwright::Signature warpwright_signatures[] = {", *rows, "{nullptr, 0, nullptr}};")
    )
    return "\n".join((head, *arrays, table, ""))


def _aliases(host: elf.Elf, tools: Path) -> Iterator[str]:
    """Yields linker options that give our C++ functions the C names of the toolkit."""
    recorder, runtime = (_functions(tools / name) for name in ("recorder.o", "runtime.o"))
    for wanted in sorted(host.undefined - runtime):
        if wanted.startswith(("cuda", "cublas")):
            spelt = f"_Z{len(wanted)}{wanted}"
            ours = next((name for name in sorted(recorder | runtime) if name.startswith(spelt)), None)
            if ours is not None:
                yield f"-Wl,--defsym,{wanted}={ours}"


def _functions(path: Path) -> frozenset[str]:
    return frozenset(symbol.name for symbol in elf.parse(path.read_bytes()).symbols if symbol.is_function)
