"""Finds the compilers of this machine, and hashes everything that their results depend on."""

from __future__ import annotations

import hashlib
import os
import shutil
import subprocess
import sysconfig
from collections.abc import Iterable, Iterator, Sequence
from functools import cache
from pathlib import Path

from warpwright import __version__
from warpwright.core.codec import content_id
from warpwright.core.errors import OurFault
from warpwright.core.records.evidence import Fault

ROOM = Path(__file__).parent
INCLUDE = ROOM / "include"
INCLUDE_HOST = ROOM / "include-host"
RECORDER = ROOM / "recorder"
FRONT = ROOM / "capture" / "front.h"
HOSTLINK = ROOM / "hostlink"
_CODE = (ROOM, ROOM.parent / "cpp", ROOM.parent / "sandbox")
STANDARD = "-std=c++20"
"""The standard with which torch compiles extensions."""
_PATIENCE_S = 1200.0


def cores() -> int:
    """The number of cores that this process may use, which in a container are often fewer than the machine has."""
    return len(os.sched_getaffinity(0))


@cache
def nvcc() -> Path | None:
    """The device compiler: named by the environment, on the path, of a toolkit, or of NVIDIA's wheels."""
    return next((path for path in _nvcc_places() if os.access(path, os.X_OK)), None)


def _nvcc_places() -> Iterator[Path]:
    if named := os.environ.get("WARPWRIGHT_NVCC"):
        yield Path(named)
    if found := shutil.which("nvcc"):
        yield Path(found)
    for root in (os.environ.get("CUDA_HOME"), os.environ.get("CUDA_PATH"), "/usr/local/cuda"):
        if root:
            yield Path(root) / "bin" / "nvcc"
    yield from nvcc_of_wheels()


def nvcc_of_wheels() -> list[Path]:
    """The compilers that `pip install warpwright[nvcc]` installs, newest first."""
    return sorted(Path(sysconfig.get_path("purelib")).glob("nvidia/*/bin/nvcc"), reverse=True)


@cache
def host_compiler() -> Path:
    named = os.environ.get("WARPWRIGHT_CXX") or shutil.which("g++")
    if not named:
        raise OurFault(Fault(where="seal", message="no g++ on this machine; install it (apt install g++)"))
    return Path(named)


@cache
def linker_flags() -> tuple[str, ...]:
    """Selects gold, the faster linker of binutils, if it is installed: it takes a third of the time on our recorder."""
    return ("-fuse-ld=gold",) if shutil.which("ld.gold") else ()


@cache
def cutlass() -> Path | None:
    """The CUTLASS headers, if the user has them."""
    named = os.environ.get("CUTLASS_PATH")
    return next((path for path in ((Path(named) / "include", Path(named)) if named else ()) if path.is_dir()), None)


@cache
def version(compiler: Path) -> str:
    """The line of `--version` that identifies a compiler."""
    done = subprocess.run([compiler, "--version"], capture_output=True, text=True, timeout=30, check=False)
    lines = [line.strip() for line in done.stdout.splitlines() if line.strip()]
    return next((line for line in lines if line.startswith("Cuda compilation")), lines[0] if lines else "unknown")


@cache
def headers() -> str:
    """A digest of the inputs of a precompiled header: our C++ texts and the host compiler."""
    files = [
        FRONT,
        *HOSTLINK.glob("*.cpp"),
        HOSTLINK / "facts.h",
        *(HOSTLINK / "include-hostlink").rglob("*"),
        *INCLUDE.rglob("*"),
        *INCLUDE_HOST.rglob("*"),
        *RECORDER.rglob("*"),
    ]
    return digest(_stamp(host_compiler()), files)


@cache
def preamble() -> str:
    """A digest of the inputs of our headers, cut for the device compiler."""
    compiler = nvcc()
    seed = f"{headers()} {_stamp(compiler) if compiler else None}"
    readers = [ROOM / "device" / f"{name}.py" for name in ("preamble", "header_slices", "declared_names", "phases")]
    return digest(seed, [*readers, ROOM.parent / "cpp" / "tokens.py"])


@cache
def identity() -> str:
    """A digest of all our sources and properties of the machine that the result of sealing depends on."""
    compiler = nvcc()
    seed = f"{headers()} {_stamp(compiler) if compiler else None} {cutlass()}"
    return digest(seed, [path for room in _CODE for path in room.rglob("*.py")])


def key_of(*parts: object) -> str:
    """The key of the result of sealing these parts on this machine."""
    return content_id([*parts, identity(), __version__])


def digest(seed: str, files: Iterable[Path]) -> str:
    digest = hashlib.sha256(seed.encode())
    for path in sorted(path for path in files if path.is_file()):
        digest.update(str(path.relative_to(ROOM.parent)).encode() + b"\0" + path.read_bytes())
    return digest.hexdigest()[:20]


def _stamp(path: Path) -> str:
    status = path.resolve().stat()
    return f"{path}:{status.st_size}:{status.st_mtime_ns}"


def readable() -> tuple[Path, ...]:
    """The folders that a compiler in the sandbox must read besides the system's own."""
    tools = [path.resolve().parent.parent for path in (nvcc(), host_compiler()) if path is not None]
    return (INCLUDE, INCLUDE_HOST, *tools, *((cutlass(),) if cutlass() else ()))


def must_compile(command: Sequence[str], folder: Path) -> None:
    """Compiles a text of ours; a failure is a fault of ours."""
    try:
        done = subprocess.run(command, cwd=folder, capture_output=True, text=True, timeout=_PATIENCE_S, check=False)
    except subprocess.TimeoutExpired:
        message = f"our own headers did not compile within {_PATIENCE_S:.0f} s; the machine is too busy"
        raise OurFault(Fault(where="seal", message=message, retryable=True)) from None
    if done.returncode != 0:
        raise OurFault(Fault(where="seal", message=f"our own headers do not compile: {done.stderr[-500:]}"))
