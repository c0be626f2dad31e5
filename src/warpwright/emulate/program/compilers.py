"""The C++ compilers that build candidates for the CPU, with their command lines: g++, or clang++ if selected.

WARPWRIGHT_EMULATE_CXX selects another compiler than the one for host code.
"""

from __future__ import annotations

import os
import shutil
import subprocess
from collections.abc import Sequence
from dataclasses import dataclass
from functools import cache
from pathlib import Path

from warpwright.core.errors import OurFault
from warpwright.core.records.evidence import Fault
from warpwright.seal import toolchain
from warpwright.seal.device.nvcc import TORCH_FLAGS

RUNTIME = Path(__file__).parents[1] / "runtime"
CHOICE = "WARPWRIGHT_EMULATE_CXX"
_CHECKED = (
    "-O1",
    "-g1",
    "-fno-omit-frame-pointer",
    "-ffp-contract=off",
    "-fno-strict-aliasing",
    "-fsanitize=thread,bounds,shift,integer-divide-by-zero,signed-integer-overflow",
    "-U__SANITIZE_THREAD__",
)
_GCC = ("-fno-tree-sra", "--param", "tsan-distinguish-volatile=1")
_SINCE_GCC_12 = ("--param", "tsan-instrument-func-entry-exit=0")
_CLANG_PASSES = (
    "-tsan-distinguish-volatile=1",
    "-tsan-instrument-func-entry-exit=0",
    "-tsan-instrument-read-before-write=1",
    "-disable-licm-promotion",
)
_CLANG = (
    "-fno-delete-null-pointer-checks",
    "-fno-finite-loops",
    f"-fsanitize-ignorelist={RUNTIME / 'unwatched.txt'}",
    *(part for option in _CLANG_PASSES for part in ("-mllvm", option)),
)
TARGET = "target.h"
"""The macros of the target, in the folder of the candidate's source."""
_SOURCE = '\n# 1 "kernel.cu" 2\n'


@dataclass(frozen=True, slots=True, kw_only=True)
class Compiler:
    path: Path
    checked: tuple[str, ...]
    """Flags for checked code: the sanitizers' passes, and optimisations that keep memory accesses as written."""
    is_clang: bool

    @property
    def identity(self) -> str:
        # A precompiled header of clang contains the paths of its sources.
        where = f" {RUNTIME}" if self.is_clang else ""
        return f"{self.path} {toolchain.version(self.path)} {self.language} {self.checked}{where}"

    @property
    def language(self) -> tuple[str, ...]:
        leniently = () if self.is_clang else ("-fpermissive",)
        defines = (flag for flag in TORCH_FLAGS if flag.startswith("-D"))
        return (toolchain.STANDARD, "-w", *leniently, "-DWARPWRIGHT_CAPTURE", *defines)

    def command(self, *arguments: str) -> list[str]:
        return [str(self.path), *self.language, *arguments]

    def precompiling(self, flags: Sequence[str], paths: Sequence[str]) -> list[str]:
        """Precompiles front.h. clang looks up the original text again at its path."""
        text = str(RUNTIME / "front.h") if self.is_clang else "front.h"
        return self.command(*flags, *paths, "-x", "c++-header", text, "-o", self._header)

    def preprocessing(self, header: Path, flags: Sequence[str]) -> list[str]:
        """Preprocesses kernel.cu to kernel.ii, with the macros of the target before it."""
        # clang writes the header out in any case, so it gets the text itself.
        given = (str(RUNTIME / "front.h"),) if self.is_clang else (str(header / "front.h"), "-fpch-preprocess")
        return self.command(
            *flags, "-include", *given, "-include", TARGET, "-E", "-x", "c++", "kernel.cu", "-o", "kernel.ii"
        )

    def own_text(self, preprocessed: str) -> str:
        """The preprocessed text of the candidate's file and its includes, without the precompiled header."""
        if not self.is_clang:
            return preprocessed
        _, _, own = preprocessed.partition(_SOURCE)
        return f'# 1 "kernel.cu"\n{own}'

    def compiling(self, header: Path, flags: Sequence[str]) -> list[str]:
        """Compiles rewritten.ii to kernel.o."""
        # The header is passed to clang's frontend: its driver does not use one for preprocessed text.
        through = ("-Xclang", "-include-pch", "-Xclang", str(header / self._header), "-x", "c++-cpp-output")
        given = through if self.is_clang else ("-fpreprocessed",)
        return self.command(*flags, *given, "-c", "rewritten.ii", "-o", "kernel.o")

    @property
    def _header(self) -> str:
        return "front.h.pch" if self.is_clang else "front.h.gch"


@cache
def compiler() -> Compiler:
    """The selected compiler."""
    path = chosen()
    if "clang" in toolchain.version(path):
        return Compiler(path=path, checked=(*_CHECKED, *_CLANG), is_clang=True)
    newer = _SINCE_GCC_12 if _knows(path, _SINCE_GCC_12) else ()
    return Compiler(path=path, checked=(*_CHECKED, *_GCC, *newer), is_clang=False)


def chosen() -> Path:
    named = os.environ.get(CHOICE)
    if not named:
        return toolchain.host_compiler()
    found = shutil.which(named)
    if found is None:
        raise OurFault(Fault(where="emulate", message=f"{CHOICE} names {named}, which is not on this machine"))
    return Path(found)


def _knows(path: Path, flags: Sequence[str]) -> bool:
    probe = [str(path), *flags, "-fsyntax-only", "-x", "c++", os.devnull]
    return subprocess.run(probe, capture_output=True, timeout=60, check=False).returncode == 0
