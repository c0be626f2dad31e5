"""Identifies a worker by everything that could make its results differ from those of a fresh process."""

from __future__ import annotations

import hashlib
import os
import stat
import sys
import tempfile
from pathlib import Path

_SOURCES = Path(__file__).resolve().parents[1]
_READ_AT_IMPORT = ("PYTHON", "LD_", "OMP_", "MKL_", "KMP_", "TORCH", "PYTORCH", "CUDA_", "WARPWRIGHT_WORKER_IDLE")
"""Beginnings of variables that Python, torch and its libraries read when they are loaded."""


def identity() -> str:
    """A digest of the interpreter, its packages, our sources, and the environment that they are loaded in."""
    digest = hashlib.sha256()
    for part in (sys.executable, sys.version, *_stamps(), *_environment()):
        digest.update(part.encode("utf-8", "surrogateescape") + b"\0")
    return digest.hexdigest()[:20]


def _stamps() -> list[str]:
    """Path, size and time of each of our sources, and of the folders that hold installed packages."""
    packages = [Path(entry) for entry in sys.path if entry.endswith("-packages")]
    files = [*sorted(_SOURCES.rglob("*.py")), *filter(Path.is_dir, packages)]
    return [f"{path} {found.st_size} {found.st_mtime_ns}" for path in files for found in [path.stat()]]


def _environment() -> list[str]:
    return sorted(f"{name}={value}" for name, value in os.environ.items() if name.startswith(_READ_AT_IMPORT))


def socket_path() -> Path:
    """The socket of the worker for this user and identity. Raises OSError if its folder is not the user's alone."""
    folder = Path(os.environ.get("XDG_RUNTIME_DIR") or tempfile.gettempdir()) / f"warpwright-{os.getuid()}"
    folder.mkdir(mode=0o700, exist_ok=True)
    found = folder.lstat()
    if not stat.S_ISDIR(found.st_mode) or found.st_uid != os.getuid() or stat.S_IMODE(found.st_mode) & 0o077:
        raise PermissionError(f"{folder} belongs to others, too")
    return folder / f"{identity()}.sock"
