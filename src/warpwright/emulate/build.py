"""A candidate compiled for the CPU: its kernels instrumented, linked with our runtime in place of a sanitizer's."""

from __future__ import annotations

import hashlib
import os
import shlex
import subprocess
from collections.abc import Sequence
from concurrent.futures import ThreadPoolExecutor
from functools import cache
from pathlib import Path

from warpwright.core.candidate import Candidate
from warpwright.core.codec import content_id
from warpwright.emulate.front import rewrite
from warpwright.seal import capture, sandbox, toolchain
from warpwright.seal.cache import Store
from warpwright.seal.device import TORCH_FLAGS

RUNTIME = Path(__file__).parent / "runtime"
PROGRAM = "emulated"
LANGUAGE = (
    toolchain.STANDARD,
    "-w",
    "-fpermissive",
    "-DWARPWRIGHT_CAPTURE",
    *(flag for flag in TORCH_FLAGS if flag.startswith("-D")),
)
_CHECKED = (
    "-O1",
    "-g1",
    "-fno-tree-sra",
    "-fno-omit-frame-pointer",
    "-ffp-contract=off",
    "-fno-strict-aliasing",
    "-fsanitize=thread,bounds,shift,integer-divide-by-zero,signed-integer-overflow",
    "--param",
    "tsan-distinguish-volatile=1",
)
COUNTING = ("-fsanitize-coverage=trace-pc",)
"""Makes every basic block call home, so that instructions can be counted: for who asks, because it slows the rest."""
_SINCE_GCC_12 = ("--param", "tsan-instrument-func-entry-exit=0")
_READERS = ("declarations", "editing", "front", "tokens")
"""What of the seal room reads and rewrites a source."""
_TEXT_LIMIT = 64 << 20
_PROGRAM_LIMIT = 128 << 20


@cache
def _checked() -> tuple[str, ...]:
    """The flags that this machine's compiler knows of those we want."""
    probe = [str(toolchain.host_compiler()), *_SINCE_GCC_12, "-fsyntax-only", "-x", "c++", os.devnull]
    known = subprocess.run(probe, capture_output=True, timeout=60, check=False).returncode == 0
    return (*_CHECKED, *_SINCE_GCC_12) if known else _CHECKED


def include_paths() -> tuple[str, ...]:
    folders = (RUNTIME / "include", toolchain.INCLUDE_HOST, toolchain.INCLUDE)
    return tuple(part for folder in folders for part in ("-I", str(folder)))


@cache
def _runtime_identity() -> str:
    """A digest of what the runtime's object and the precompiled header depend on."""
    texts = sorted(path for path in RUNTIME.rglob("*") if path.is_file() and path.suffix != ".md")
    return _digest(f"{toolchain.headers()} {LANGUAGE} {_checked()}", texts)


@cache
def identity() -> str:
    """A digest of everything of ours that an emulated program depends on."""
    fronts = [Path(__file__).parent / name for name in ("front.py", "shared.py")]
    return _digest(_runtime_identity(), [*fronts, *(toolchain.ROOM / f"{name}.py" for name in _READERS)])


def _digest(seed: str, texts: Sequence[Path]) -> str:
    digest = hashlib.sha256(seed.encode())
    for path in texts:
        digest.update(path.name.encode() + b"\0" + path.read_bytes())
    return digest.hexdigest()[:20]


def prebuilt(store: Store) -> Path:
    """The precompiled header and the runtime's object, made once per machine and version of our texts."""
    key = f"{_runtime_identity()}-runtime"
    # Looked for first: whoever makes one for another version of our texts would else hold up everybody.
    return store.find(key) or store.make_once(key, _prebuild)


def _prebuild(folder: Path) -> None:
    """These texts are ours: no sandbox, and a failure is ours too."""
    compiler = str(toolchain.host_compiler())
    (folder / "front.h").write_bytes((RUNTIME / "front.h").read_bytes())
    sources = sorted((RUNTIME / "source").glob("*.cpp"))
    plain = [compiler, *LANGUAGE, *include_paths(), "-I", str(toolchain.RECORDER), "-O2", "-g0", "-c"]
    compiling = [[*plain, str(source), "-o", f"{source.stem}.o"] for source in sources]
    with ThreadPoolExecutor(os.cpu_count()) as pool:
        list(pool.map(lambda command: capture.must_compile(command, folder), [_precompiling(_checked()), *compiling]))
    parts = [f"{source.stem}.o" for source in sources]
    capture.must_compile([compiler, "-r", "-nostdlib", *parts, "-o", "runtime.whole"], folder)
    for part in parts:
        (folder / part).unlink()
    (folder / "runtime.whole").rename(folder / "runtime.o")


def program(candidate: Candidate, store: Store, counting: bool = False) -> Path:
    """The emulated program of a candidate, from the store where it is there. Raises Refused where it cannot be."""
    flags = (*_checked(), *COUNTING) if counting else _checked()
    key = content_id([candidate.source, candidate.flags.extra, identity(), flags]) + "-emulated"
    return store.make(key, lambda folder: _build(candidate, store, folder, flags)) / PROGRAM


def _header(store: Store, flags: Sequence[str]) -> Path:
    """The folder of a header that was precompiled with these flags."""
    if flags == _checked():
        return prebuilt(store)
    key = content_id([_runtime_identity(), flags]) + "-header"
    return store.find(key) or store.make_once(key, lambda folder: _precompile(folder, flags))


def _precompile(folder: Path, flags: Sequence[str]) -> None:
    (folder / "front.h").write_bytes((RUNTIME / "front.h").read_bytes())
    capture.must_compile(_precompiling(flags), folder)


def _precompiling(flags: Sequence[str]) -> list[str]:
    compiler = str(toolchain.host_compiler())
    return [compiler, *LANGUAGE, *flags, *include_paths(), "-x", "c++-header", "front.h", "-o", "front.h.gch"]


def _build(candidate: Candidate, store: Store, place: Path, flags: Sequence[str]) -> None:
    objects = (prebuilt(store), capture.prebuilt(store))
    header = _header(store, flags)
    with store.staging() as folder:
        (folder / "kernel.cu").write_bytes(candidate.source.encode("utf-8", "surrogateescape"))
        defines = [flag for flag in candidate.flags.extra if flag.startswith(("-D", "-U"))]
        text = rewrite(_preprocessed(folder, defines, header, flags))
        (folder / "rewritten.ii").write_text(text, encoding="utf-8", errors="surrogateescape")
        built = _compiled(folder, header, objects, flags)
    (place / PROGRAM).write_bytes(built)
    (place / PROGRAM).chmod(0o755)


def _preprocessed(folder: Path, defines: Sequence[str], header: Path, flags: Sequence[str]) -> str:
    command = [str(toolchain.host_compiler()), *LANGUAGE, *flags, *defines, *include_paths()]
    command += ["-include", str(header / "front.h"), "-E", "-fpch-preprocess", "-x", "c++", "kernel.cu"]
    done = _run([*command, "-o", "kernel.ii"], folder, (header,))
    text = sandbox.harvest(folder / "kernel.ii", _TEXT_LIMIT)
    if done.returncode != 0 or text is None:
        raise capture.build_refusal(done, folder)
    return text.decode("utf-8", "surrogateescape")


def _compiled(folder: Path, header: Path, objects: tuple[Path, Path], flags: Sequence[str]) -> bytes:
    """One shell for both steps: starting a sandbox costs as much as linking."""
    compiler = str(toolchain.host_compiler())
    compiling = [compiler, *LANGUAGE, *flags, "-fpreprocessed", "-c", "rewritten.ii", "-o", "kernel.o"]
    ours = [str(objects[0] / "runtime.o"), str(objects[1] / "recorder.o")]
    linking = [compiler, "-pie", "kernel.o", *ours, "-ldl", "-o", PROGRAM]
    done = _run(["/bin/sh", "-c", f"{shlex.join(compiling)} && {shlex.join(linking)}"], folder, (header, *objects))
    built = sandbox.harvest(folder / PROGRAM, _PROGRAM_LIMIT)
    if done.returncode != 0 or built is None:
        raise capture.build_refusal(done, folder)
    return built


def _run(command: Sequence[str], folder: Path, tools: Sequence[Path]) -> sandbox.Finished:
    readable = (*toolchain.readable(), RUNTIME, *tools)
    done = sandbox.run(command, readable=readable, writable=folder, limits=capture.COMPILE_LIMITS)
    done.blame_machine("compiling for the CPU")
    return done
