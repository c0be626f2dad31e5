"""Builds host code with the ordinary compiler against our headers, runs it in the sandbox, and records its calls."""

from __future__ import annotations

import os
from collections.abc import Callable, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from pathlib import Path

from warpwright.sandbox import run as sandbox
from warpwright.seal import artefact, toolchain
from warpwright.seal.cache import Store
from warpwright.seal.capture import trace
from warpwright.seal.capture.front import rewrite
from warpwright.seal.capture.traced import Trace
from warpwright.seal.device import elf
from warpwright.seal.device.diagnose import assembler_complaint, diagnostics
from warpwright.seal.device.nvcc import TORCH_FLAGS
from warpwright.seal.refusal import COMPILE_LIMIT, Refused, refuted, undecided
from warpwright.seal.toolchain import must_compile as must_compile

_LANGUAGE = (toolchain.STANDARD, "-O0", "-w", "-fpermissive", "-DWARPWRIGHT_CAPTURE")
_DEFINES = tuple(flag for flag in TORCH_FLAGS if flag.startswith("-D"))
MOST_TEXT = 16 << 20
"""The limit on a source after macro expansion. Rewriting takes some seconds and 150 MiB of memory for each MiB."""
PROGRAM = "capture"
_PROGRAM_LIMIT = 64 << 20
_TRACE_LIMIT = 64 << 20
COMPILE_LIMITS = sandbox.Limits(cpu_s=60.0, wall_s=600.0)
RUN_LIMITS = sandbox.Limits(cpu_s=20.0, wall_s=300.0, idle_s=10.0, memory_bytes=2 << 30, processes=16)


@dataclass(frozen=True, slots=True, kw_only=True)
class Program:
    """A built capture program."""

    path: Path
    symbols: elf.Elf

    def symbol(self, code: int) -> str | None:
        """The mangled name of the kernel or variable at a code position."""
        found = self.symbols.covering(code)
        return found.name if found else None


def _include_flags() -> tuple[str, ...]:
    return ("-I", str(toolchain.INCLUDE_HOST), "-I", str(toolchain.INCLUDE))


def prebuilt(store: Store) -> Path:
    """The precompiled header and the recorder's object, built once per machine and version of our headers."""
    return store.find(_prebuilt_key()) or store.make_once(_prebuilt_key(), _prebuild)


def is_prebuilt(store: Store) -> bool:
    return store.find(_prebuilt_key()) is not None


def _prebuilt_key() -> str:
    return f"{toolchain.headers()}-recorder"


def _prebuild(folder: Path) -> None:
    """Builds both. These texts are ours, so they need no sandbox, and a failure is a fault of ours."""
    compiler = str(toolchain.host_compiler())
    (folder / "front.h").write_bytes((toolchain.FRONT).read_bytes())
    flags = [compiler, *_LANGUAGE, *_DEFINES, *_include_flags()]
    must_compile([*flags, "-x", "c++-header", "front.h", "-o", "front.h.gch"], folder)
    sources = [*_recorder_parts(folder), toolchain.HOSTLINK / "runtime.cpp"]
    with ThreadPoolExecutor(toolchain.cores()) as pool:
        compiling = [[*flags, "-include", "front.h", "-c", str(path), "-o", f"{path.stem}.o"] for path in sources]
        list(pool.map(lambda command: must_compile(command, folder), compiling))
    parts = [f"{source.stem}.o" for source in sources[:-1]]
    must_compile([compiler, "-r", "-nostdlib", *parts, "-o", "recorder.o"], folder)
    for source in sources[:-1]:
        source.unlink()
        source.with_suffix(".o").unlink()


def _recorder_parts(folder: Path) -> list[Path]:
    """The recorder as two texts: its files share most templates, so that few translation units compile faster."""
    texts = sorted(toolchain.RECORDER.glob("*.cpp"))
    parts = [folder / "part0.cpp", folder / "part1.cpp"]
    for number, part in enumerate(parts):
        part.write_text("".join(f'#include "{text}"\n' for text in texts[number :: len(parts)]))
    return parts


def build(folder: Path, defines: Sequence[str], store: Store) -> Program:
    """The capture program of `kernel.cu` in the folder, built once for each source and macros."""
    key = toolchain.key_of((folder / "kernel.cu").read_bytes(), defines) + "-capture"
    return kept(key, lambda: _built(folder, defines, store), store)


def kept(key: str, make: Callable[[], bytes], store: Store) -> Program:
    """The program of this key, from the store if it is there."""

    def fill(place: Path) -> None:
        (place / PROGRAM).write_bytes(make())
        (place / PROGRAM).chmod(0o755)

    path = artefact.made_once(store, key, fill) / PROGRAM
    return Program(path=path, symbols=elf.parse(path.read_bytes()))


def _built(folder: Path, defines: Sequence[str], store: Store) -> bytes:
    tools = prebuilt(store)
    text = _preprocessed(folder, defines, tools)
    try:
        return _compiled(folder, rewrite(text), tools)
    except Refused as refused:
        if refused.hit_limit:
            raise
        # Functions for both sides may use device intrinsics; host code calls few of them.
        return _compiled(folder, rewrite(text, keep_host_device=False), tools)


def _preprocessed(folder: Path, defines: Sequence[str], tools: Path) -> str:
    header = ("-include", str(tools / "front.h"))
    command = [str(toolchain.host_compiler()), *_LANGUAGE, *_DEFINES, *defines, *_include_flags(), *header]
    done = _run([*command, "-E", "-fpch-preprocess", "-x", "c++", "kernel.cu", "-o", "kernel.ii"], folder, tools)
    if done.returncode != 0:
        raise build_refusal(done, folder)
    text = sandbox.harvest(folder / "kernel.ii", MOST_TEXT)
    if text is None:
        raise refuted(COMPILE_LIMIT, f"the source has more than {MOST_TEXT >> 20} MiB when its macros are expanded")
    return text.decode("utf-8", "surrogateescape")


def _compiled(folder: Path, text: str, tools: Path) -> bytes:
    (folder / "capture.ii").write_text(text, encoding="utf-8", errors="surrogateescape")
    command = [str(toolchain.host_compiler()), *_LANGUAGE, *_DEFINES, "-fpreprocessed", "capture.ii", "-x", "none"]
    linking = [*toolchain.linker_flags(), str(tools / "recorder.o"), "-pie", "-ldl", "-o", PROGRAM]
    done = _run([*command, *linking], folder, tools)
    program = sandbox.harvest(folder / PROGRAM, _PROGRAM_LIMIT)
    if done.returncode != 0 or program is None:
        raise build_refusal(done, folder)
    return program


def _run(command: Sequence[str], folder: Path, tools: Path) -> sandbox.Finished:
    done = sandbox.run(command, readable=(*toolchain.readable(), tools), writable=folder, limits=COMPILE_LIMITS)
    done.blame_machine("compiling host code")
    return done


def build_refusal(done: sandbox.Finished, folder: Path) -> Refused:
    """The refusal of a failed build. nvcc decides whether a source is valid; one that only our build rejects is
    unsupported."""
    if done.reason is not None:
        return refuted(COMPILE_LIMIT, f"compiling it {done.excess}")
    log = done.stderr.decode("utf-8", "replace")
    if complaint := assembler_complaint(log):
        return refuted("compile", f"the host's assembler says: {complaint}")
    found = diagnostics(log, (folder / "kernel.cu").read_text(errors="replace"))
    if not found:
        return undecided(f"unsupported: the host compiler failed ({done.stderr[-200:]!r})")
    where = f" (line {found[0].line})" if found[0].line else ""
    return undecided(f"unsupported: {found[0].message}{where}")


def run(program: Program, requests: Sequence[bytes], folder: Path) -> tuple[list[Trace], sandbox.Finished]:
    """Runs one process that answers the requests in order; it crashed if there are fewer traces than requests."""
    (folder / "requests").write_bytes(b"".join(requests))
    descriptor = os.memfd_create("trace")
    try:
        command = [str(program.path), "requests", str(descriptor)]
        readable = (program.path.parent,)
        done = sandbox.run(command, readable=readable, writable=folder, limits=RUN_LIMITS, pass_fds=(descriptor,))
        written = os.pread(descriptor, _TRACE_LIMIT, 0)
    finally:
        os.close(descriptor)
    return [trace.read(line) for line in written.splitlines()[: len(requests)]], done
