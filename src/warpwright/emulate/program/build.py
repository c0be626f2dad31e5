"""Compiles a candidate for the CPU with instrumented kernels, and links it with our runtime in place of a
sanitizer's."""

from __future__ import annotations

import hashlib
import os
import shlex
from collections.abc import Sequence
from concurrent.futures import ThreadPoolExecutor
from functools import cache
from pathlib import Path

from warpwright.core.candidate import Candidate
from warpwright.core.codec import content_id
from warpwright.core.gpus.table import Architecture, gpu_named
from warpwright.emulate.program.compilers import RUNTIME, TARGET, compiler
from warpwright.emulate.program.front import rewrite
from warpwright.emulate.program.lifting import LIFTED, lift
from warpwright.sandbox import run as sandbox
from warpwright.seal import toolchain
from warpwright.seal.cache import Store
from warpwright.seal.capture import program as capture

PROGRAM = "emulated"
_READERS = (*(f"cpp/{name}.py" for name in ("declarations", "editing", "tokens")), "seal/capture/front.py")
"""The modules that read and rewrite the source of every program."""
_TEXT_LIMIT = 64 << 20
_PROGRAM_LIMIT = 128 << 20


def include_paths() -> tuple[str, ...]:
    folders = (RUNTIME / "include", toolchain.INCLUDE_HOST, toolchain.INCLUDE)
    return tuple(part for folder in folders for part in ("-I", str(folder)))


@cache
def _runtime_identity() -> str:
    """A digest of the inputs of the runtime's object and the precompiled header."""
    texts = sorted(path for path in RUNTIME.rglob("*") if path.is_file() and path.suffix != ".md")
    return _digest(f"{toolchain.headers()} {compiler().identity}", texts)


@cache
def identity() -> str:
    """A digest of all our sources that an emulated program depends on."""
    fronts = [Path(__file__).parent / name for name in ("compilers.py", "front.py", "lifting.py", "shared.py")]
    return _digest(_runtime_identity(), [*fronts, *(toolchain.ROOM.parent / name for name in _READERS)])


def _digest(seed: str, texts: Sequence[Path]) -> str:
    digest = hashlib.sha256(seed.encode())
    for path in texts:
        digest.update(path.name.encode() + b"\0" + path.read_bytes())
    return digest.hexdigest()[:20]


def prebuilt(store: Store, *, lifted: bool = False) -> Path:
    """The precompiled header and the runtime's object, built once per machine and version of our sources."""
    key = f"{_runtime_identity()}-{'lifted' if lifted else 'runtime'}"
    # Looked up first: otherwise a process that builds them for another version would block all others.
    found = store.find(key)
    if found is not None:
        return found
    plain = prebuilt(store) / "runtime.o" if lifted else None
    return store.make_once(key, lambda folder: _prebuild(folder, plain))


def _prebuild(folder: Path, plain: Path | None) -> None:
    """Builds both. These texts are ours, so they need no sandbox, and a failure is a fault of ours.

    A lifted runtime consists of the plain one, whose object is given, and the arithmetic of lifted numbers.
    """
    lifted = plain is not None
    (folder / "front.h").write_bytes((RUNTIME / "front.h").read_bytes())
    sources = sorted((RUNTIME / ("lifted" if lifted else "source")).glob("*.cpp"))
    command = compiler().command(*include_paths(), "-I", str(toolchain.RECORDER), "-O2", "-g0", "-c")
    compiling = [[*command, str(source), "-o", f"{source.stem}.o"] for source in sources]
    precompiling = compiler().precompiling(_flags(lifted), include_paths())
    with ThreadPoolExecutor(os.cpu_count()) as pool:
        list(pool.map(lambda each: capture.must_compile(each, folder), [precompiling, *compiling]))
    parts = [f"{source.stem}.o" for source in sources]
    whole = [*parts, str(plain)] if lifted else parts
    capture.must_compile([str(compiler().path), "-r", "-nostdlib", *whole, "-o", "runtime.whole"], folder)
    for part in parts:
        (folder / part).unlink()
    (folder / "runtime.whole").rename(folder / "runtime.o")


def _flags(lifted: bool) -> tuple[str, ...]:
    return (*compiler().checked, LIFTED) if lifted else compiler().checked


def program(candidate: Candidate, store: Store, *, lifted: bool = False) -> Path:
    """The emulated program of a candidate, from the store if it is there. Raises Refused if it cannot be built.

    A lifted program computes in numbers that decide equality, in place of floats.
    """
    target = target_macros(gpu_named(candidate.flags.gpu).architecture)
    key = content_id([candidate.source, candidate.flags.extra, target, identity(), _flags(lifted)]) + "-emulated"
    return store.make(key, lambda folder: _build(candidate, store, folder, lifted)) / PROGRAM


def target_macros(architecture: Architecture) -> str:
    """The macros by which nvcc tells device code what it is compiled for."""
    number = 100 * architecture.capability[0] + 10 * architecture.capability[1]
    macros = [f"__CUDA_ARCH__ {number}", f"__CUDA_ARCH_LIST__ {number}"]
    if architecture.name.endswith("a"):
        macros += [f"__CUDA_ARCH_FEAT_SM{number // 10}_ALL"]
        macros += [f"__CUDA_ARCH_SPECIFIC__ {number}", f"__CUDA_ARCH_FAMILY_SPECIFIC__ {number}"]
    return "".join(f"#define {macro}\n" for macro in macros)


def _build(candidate: Candidate, store: Store, place: Path, lifted: bool) -> None:
    header, recorder = prebuilt(store, lifted=lifted), capture.prebuilt(store)
    with store.staging() as folder:
        (folder / "kernel.cu").write_bytes(candidate.source.encode("utf-8", "surrogateescape"))
        (folder / TARGET).write_text(target_macros(gpu_named(candidate.flags.gpu).architecture))
        defines = [flag for flag in candidate.flags.extra if flag.startswith(("-D", "-U"))]
        text = _preprocessed(folder, (*_flags(lifted), *defines), header)
        (folder / "rewritten.ii").write_text(
            rewrite(lift(text) if lifted else text), encoding="utf-8", errors="surrogateescape"
        )
        built = _compiled(folder, _flags(lifted), header, recorder)
    (place / PROGRAM).write_bytes(built)
    (place / PROGRAM).chmod(0o755)


def _preprocessed(folder: Path, flags: Sequence[str], header: Path) -> str:
    command = compiler().preprocessing(header, (*flags, *include_paths()))
    done = _run(command, folder, (header,))
    text = sandbox.harvest(folder / "kernel.ii", _TEXT_LIMIT)
    if done.returncode != 0 or text is None:
        raise capture.build_refusal(done, folder)
    return compiler().own_text(text.decode("utf-8", "surrogateescape"))


def _compiled(folder: Path, flags: Sequence[str], header: Path, recorder: Path) -> bytes:
    """Compiles and links in one shell, because starting a sandbox takes as long as linking."""
    compiling = compiler().compiling(header, flags)
    ours = [str(header / "runtime.o"), str(recorder / "recorder.o")]
    linking = [str(compiler().path), "-pie", "kernel.o", *ours, "-ldl", "-o", PROGRAM]
    command = ["/bin/sh", "-c", f"{shlex.join(compiling)} && {shlex.join(linking)}"]
    done = _run(command, folder, (header, recorder))
    built = sandbox.harvest(folder / PROGRAM, _PROGRAM_LIMIT)
    if done.returncode != 0 or built is None:
        raise capture.build_refusal(done, folder)
    return built


def _run(command: Sequence[str], folder: Path, tools: Sequence[Path]) -> sandbox.Finished:
    readable = (*toolchain.readable(), compiler().path.resolve().parent.parent, RUNTIME, *tools)
    done = sandbox.run(command, readable=readable, writable=folder, limits=capture.COMPILE_LIMITS)
    done.blame_machine("compiling for the CPU")
    return done
