"""The arithmetic of lifted numbers as a shared library: the same C++ that lifted programs are linked with."""

from __future__ import annotations

import ctypes
from functools import cache
from pathlib import Path

from warpwright.emulate.program.compilers import RUNTIME
from warpwright.seal import toolchain
from warpwright.seal.cache import Store, default_root
from warpwright.seal.capture.program import must_compile

NAME = "lifted.so"
_SOURCES = ("arrays.cpp", "discrete_log.cpp", "number.cpp", "reading.cpp")
_FUNCTIONS = (
    "keep",
    "draw_best",
    "forget_draws",
    "put",
    "get",
    "values",
    "read",
    "whole",
    "draw",
    "unary",
    "binary",
    "reduce",
    "join_at",
    "product",
)


@cache
def loaded() -> ctypes.CDLL:
    """Builds the library at its first use on a machine, and loads it."""
    store = Store(root=default_root())
    library = ctypes.CDLL(str(store.make_once(f"{_identity()}-numbers", _build) / NAME))
    for name in _FUNCTIONS:
        getattr(library, f"lifted_{name}").restype = None
    library.lifted_count.restype = library.lifted_draw_again.restype = ctypes.c_int64
    return library


def _identity() -> str:
    return toolchain.digest(toolchain.version(toolchain.host_compiler()), (RUNTIME / "lifted").glob("*"))


def _build(folder: Path) -> None:
    sources = [str(RUNTIME / "lifted" / name) for name in _SOURCES]
    command = [str(toolchain.host_compiler()), toolchain.STANDARD, "-O3", "-shared", "-fPIC", *sources, "-o", NAME]
    must_compile(command, folder)
