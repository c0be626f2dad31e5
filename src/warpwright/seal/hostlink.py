"""The same host code by nvcc's own hand: its host object, linked with a CUDA runtime of ours that records.

Names and launches are exact whatever the source does, because no text is rewritten. It takes several times as long as
the front, so it is the fall-back, and the oracle that the front is tested against.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from pathlib import Path

from warpwright.core.candidate import Flags
from warpwright.core.plan import Kernel
from warpwright.seal import device, elf, sandbox, toolchain
from warpwright.seal.cache import Store
from warpwright.seal.capture import Program, prebuilt
from warpwright.seal.refusal import undecided

_OBJECT_LIMIT = 256 << 20
# Structures of these differ between the toolkit's headers and ours, so an answer would be garbage.
_DIFFERENT = ("cudaGetDeviceProperties", "cudaFuncGetAttributes", "cudaLaunchKernelExC", "getCurrentDeviceProperties")


def build(folder: Path, flags: Flags, kernels: Sequence[Kernel], store: Store) -> Program:
    """The capture program of `kernel.cu` in the folder, whose kernels the cubin has described."""
    tools = prebuilt(store)
    host = _host_object(folder, flags)
    (folder / "signatures.cpp").write_text(_signatures(kernels))
    aliases = list(_aliases(host, elf.parse((tools / "recorder.o").read_bytes())))
    parts = ["kernel.o", "signatures.cpp", str(tools / "hostlink.o"), str(tools / "recorder.o")]
    command = [str(toolchain.host_compiler()), toolchain.STANDARD, "-O0", "-w", "-pie", *parts, *aliases, "-ldl"]
    _run([*command, "-o", "capture"], folder, tools)
    program = sandbox.harvest(folder / "capture", _OBJECT_LIMIT)
    if program is None:
        raise undecided("unsupported: nvcc's own host code cannot be linked here")
    return Program(path=folder / "capture", symbols=elf.parse(program))


def _host_object(folder: Path, flags: Flags) -> elf.Elf:
    nvcc = toolchain.nvcc()
    if nvcc is None:
        raise undecided("unsupported: no nvcc here to fall back on")
    options = (*device.arguments(flags), *device.include_flags(), "-DWARPWRIGHT_CAPTURE", "-Xcompiler", "-fPIE,-O0")
    _run([str(nvcc), "-c", *options, "kernel.cu", "-o", "kernel.o"], folder, toolchain.INCLUDE)
    data = sandbox.harvest(folder / "kernel.o", _OBJECT_LIMIT)
    if data is None:
        raise undecided("unsupported: nvcc wrote no host object")
    host = elf.parse(data)
    if used := [name for name in host.undefined if any(different in name for different in _DIFFERENT)]:
        raise undecided(f"unsupported: {used[0]} in nvcc's own host code")
    return host


def _run(command: Sequence[str], folder: Path, tools: Path) -> None:
    done = sandbox.run(command, readable=(*toolchain.readable(), tools), writable=folder, limits=device.LIMITS)
    if done.returncode != 0:
        complaint = done.stderr.decode("utf-8", "replace").strip().splitlines()
        raise undecided(f"unsupported: {done.reason or (complaint[-1] if complaint else 'the compiler failed')}")


def _signatures(kernels: Iterable[Kernel]) -> str:
    """A table of the bytes of every kernel's parameters, which the launch itself does not carry."""
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


def _aliases(host: elf.Elf, recorder: elf.Elf) -> Iterator[str]:
    """Linker options that give our C++ functions the C names the toolkit declares."""
    names = {symbol.name for symbol in recorder.symbols if symbol.is_function}
    for wanted in sorted(host.undefined):
        if wanted.startswith(("cuda", "cublas")):
            ours = next((name for name in sorted(names) if name.startswith(f"_Z{len(wanted)}{wanted}")), None)
            if ours is not None:
                yield f"-Wl,--defsym,{wanted}={ours}"
