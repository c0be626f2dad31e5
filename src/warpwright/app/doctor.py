"""Finds the compilers, GPU, tools, isolation and keys of this machine. Changes nothing."""

from __future__ import annotations

import ctypes
import os
import platform
import re
import shutil
import subprocess
import sys
from collections.abc import Callable
from dataclasses import dataclass
from importlib import metadata
from pathlib import Path

KEYS = {
    "ANTHROPIC_API_KEY": ("ANTHROPIC_API_KEY",),
    "OPENAI_API_KEY": ("OPENAI_API_KEY",),
    "GEMINI_API_KEY": ("GEMINI_API_KEY", "GOOGLE_API_KEY"),
}
_TOOLKIT = "/usr/local/cuda"
_CLONE_NEWUSER = 0x10000000
_LANDLOCK_CREATE_RULESET, _LANDLOCK_VERSION = 444, 1


@dataclass(frozen=True, slots=True, kw_only=True)
class Finding:
    """One line of the examination. `found` says what there is; None means that it is missing."""

    name: str
    found: str | None
    needed_for: str
    remedy: str
    required: bool = False


@dataclass(frozen=True, slots=True, kw_only=True)
class _Probe:
    name: str
    look: Callable[[], str | None]
    needed_for: str
    remedy: str
    required: bool = False


def examine() -> tuple[Finding, ...]:
    """Every probe once, in the order in which they are worth reading."""
    return tuple(
        Finding(name=p.name, found=p.look(), needed_for=p.needed_for, remedy=p.remedy, required=p.required)
        for p in (*_PROBES, *map(_key_probe, KEYS))
    )


def complete(findings: tuple[Finding, ...]) -> bool:
    """Whether everything required is there."""
    return all(finding.found is not None for finding in findings if finding.required)


def _python() -> str | None:
    return platform.python_version() if sys.version_info >= (3, 11) else None


def _torch() -> str | None:
    try:
        return metadata.version("torch")
    except metadata.PackageNotFoundError:
        return None


def _gpu() -> str | None:
    return _nvidia_smi("name") or _libcuda_name()


def _driver() -> str | None:
    return _nvidia_smi("driver_version") or _libcuda_version()


def _nvidia_smi(field: str) -> str | None:
    printed = _printed("nvidia-smi", f"--query-gpu={field}", "--format=csv,noheader")
    return ", ".join(dict.fromkeys(printed.split("\n"))) if printed else None


def _libcuda() -> ctypes.CDLL | None:
    try:
        library = ctypes.CDLL("libcuda.so.1")
    except OSError:
        return None
    return library if library.cuInit(0) == 0 else None


def _libcuda_name() -> str | None:
    library, device, name = _libcuda(), ctypes.c_int(), ctypes.create_string_buffer(128)
    if library is None or library.cuDeviceGet(ctypes.byref(device), 0) != 0:
        return None
    return name.value.decode() if library.cuDeviceGetName(name, len(name), device) == 0 else None


def _libcuda_version() -> str | None:
    library, version = _libcuda(), ctypes.c_int()
    if library is None or library.cuDriverGetVersion(ctypes.byref(version)) != 0:
        return None
    return f"CUDA {version.value // 1000}.{version.value % 1000 // 10}"


def _nvcc() -> str | None:
    """On the path, in a toolkit, or from NVIDIA's wheels."""
    from warpwright.seal.toolchain import nvcc_of_wheels

    path = _located("nvcc") or next((str(found) for found in nvcc_of_wheels()), None)
    return path and _version(_printed(path, "--version") or "", path)


def _sandbox() -> str | None:
    """Describes the confinement of candidates on this machine, and its gaps."""
    from warpwright.core.errors import OurFault
    from warpwright.sandbox.run import isolation

    try:
        found = isolation()
    except OurFault:
        return None
    layers = [found.mode, f"landlock {found.landlock}" if found.landlock else "", "seccomp" if found.seccomp else ""]
    return "; ".join([", ".join(filter(None, layers)), *found.gaps])


def _tool(name: str) -> Callable[[], str | None]:
    """A program on the PATH or in the CUDA toolkit, by the version it prints."""

    def look() -> str | None:
        path = _located(name)
        return path and _version(_printed(path, "--version") or "", path)

    return look


def _located(name: str) -> str | None:
    folders = (os.environ.get("CUDA_HOME"), os.environ.get("CUDA_PATH"), _TOOLKIT)
    inside = [str(Path(folder, "bin", name)) for folder in folders if folder]
    return next(filter(None, map(shutil.which, [name, *inside])), None)


def _version(printed: str, path: str) -> str:
    """The most telling number: nvcc prints its own after a "V", the others print the longest one last."""
    numbers = re.findall(r"\bV?(\d+(?:\.\d+)+)", printed)
    return f"{max(numbers, key=len)} ({path})" if numbers else path


def _printed(*command: str) -> str | None:
    """Returns the output of a program; None if it is missing, fails or hangs."""
    try:
        ran = subprocess.run(command, capture_output=True, text=True, timeout=10, check=True, errors="replace")
    except (OSError, subprocess.SubprocessError):
        return None
    return ran.stdout.strip()


def _disk() -> str | None:
    home = os.path.expanduser("~")
    free = shutil.disk_usage(home if os.path.isdir(home) else "/").free / 1e9
    return f"{free:.0f} GB free" if free >= 2 else None


def _user_namespaces() -> str | None:
    """Tried in a child, because a process that has entered a namespace cannot come back."""
    attempt = f"import ctypes, sys; sys.exit(ctypes.CDLL(None).unshare({_CLONE_NEWUSER}) != 0)"
    return "available" if _printed(sys.executable, "-c", attempt) is not None else None


def _landlock() -> str | None:
    if platform.system() != "Linux":
        return None
    version = ctypes.CDLL(None).syscall(_LANDLOCK_CREATE_RULESET, None, ctypes.c_size_t(0), _LANDLOCK_VERSION)
    return f"ABI {version}" if version > 0 else None


def _key_probe(name: str) -> _Probe:
    spellings = KEYS[name]
    return _Probe(
        name=name,
        # Only whether it is set: the value must not appear anywhere, not even in a debug log.
        look=lambda: "set" if any(os.environ.get(spelling) for spelling in spellings) else None,
        needed_for="kernels proposed by this provider's models",
        remedy=f"export {' or '.join(spellings)}",
    )


_CUDA_REMEDY = "install the CUDA toolkit, or set CUDA_HOME to it"
_NVCC_REMEDY = "pip install 'warpwright[nvcc]', or install the CUDA toolkit"
_PROBES = (
    _Probe(
        name="Python",
        look=_python,
        needed_for="everything",
        remedy="install Python 3.11 or newer",
        required=True,
    ),
    _Probe(
        name="torch",
        look=_torch,
        needed_for="references and comparisons",
        remedy="pip install torch",
        required=True,
    ),
    _Probe(
        name="g++",
        look=_tool("g++"),
        needed_for="host code of candidates",
        remedy="apt install g++",
        required=True,
    ),
    _Probe(name="nvcc", look=_nvcc, needed_for="compiling for a GPU", remedy=_NVCC_REMEDY),
    _Probe(name="clang", look=_tool("clang"), needed_for="a second host compiler", remedy="apt install clang"),
    _Probe(name="GPU", look=_gpu, needed_for="checks and times on a GPU", remedy="use a machine with an NVIDIA GPU"),
    _Probe(name="driver", look=_driver, needed_for="checks and times on a GPU", remedy="install the NVIDIA driver"),
    _Probe(name="ncu", look=_tool("ncu"), needed_for="profiles", remedy="install Nsight Compute"),
    _Probe(
        name="compute-sanitizer",
        look=_tool("compute-sanitizer"),
        needed_for="memory checks on a GPU",
        remedy=_CUDA_REMEDY,
    ),
    _Probe(name="disk", look=_disk, needed_for="caches and archives", remedy="free 2 GB in the home folder"),
    _Probe(
        name="user namespaces",
        look=_user_namespaces,
        needed_for="the full sandbox for candidates",
        remedy="allow unprivileged user namespaces",
    ),
    _Probe(
        name="landlock",
        look=_landlock,
        needed_for="files closed to candidates",
        remedy="use Linux 5.13 or newer with landlock enabled",
    ),
    _Probe(
        name="sandbox",
        look=_sandbox,
        needed_for="compiling and recording candidates",
        remedy="use Linux with user namespaces or landlock",
    ),
)
