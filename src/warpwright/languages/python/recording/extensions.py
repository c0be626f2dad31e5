"""Builds the extensions that Python code loads, by the machinery that builds a CUDA C++ candidate's host code."""

from __future__ import annotations

import shutil
import threading
from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path
from tempfile import mkdtemp
from typing import Any

from warpwright.core.candidate import Flags
from warpwright.core.codec import decode
from warpwright.core.gpus.table import gpu_named
from warpwright.languages.python.lowering.extensions import prefix, text_of
from warpwright.languages.python.record import Extension
from warpwright.seal.cache import Store
from warpwright.seal.capture import program as capture
from warpwright.seal.capture.observe import Observer
from warpwright.seal.device import nvcc as device
from warpwright.seal.refusal import Refused


@dataclass(slots=True, kw_only=True)
class Builder:
    """The extensions of one candidate, by the number that the recording process gives them."""

    flags: Flags
    store: Store
    source: str
    thorough: bool = False
    """Whether device code is compiled before Python may call it: a file that catches exceptions takes another path
    if it does not compile.
    """
    built: dict[int, Extension] = field(default_factory=dict)
    _lock: Any = field(default_factory=threading.Lock)

    def answer(self, question: Mapping[str, Any], folder: Path) -> dict[str, Any]:
        """The program of an extension, put where the process sees it, or why there is none."""
        extension, number = decode(Extension, question["build"]), decode(int, question["number"])
        with self._lock:
            try:
                program, entries = self._program(extension, number)
                if self.thorough:
                    self._compile(extension, number)
            except Refused as refused:
                return self._failed(extension, number, refused)
            self.built[number] = extension
        place = folder / f"extension-{number}"
        shutil.copy(program.path, place)
        return {"program": str(place.resolve()), "entries": entries}

    def _program(self, extension: Extension, number: int) -> tuple[capture.Program, list[str]]:
        with self.store.staging() as folder:
            (folder / "kernel.cu").write_text(text_of(extension, number, self.source), errors="surrogateescape")
            defines = [flag for flag in extension.flags if flag.startswith(("-D", "-U"))]
            program = capture.build(folder, defines, self.store)
        with self.store.staging() as folder:
            observer = Observer(
                ask=lambda lines: capture.run(program, lines, Path(mkdtemp(dir=folder))), gpu=gpu_named(self.flags.gpu)
            )
            mine = prefix(number)
            return program, [name.removeprefix(mine) for name in observer.entries() if name.startswith(mine)]

    def _failed(self, extension: Extension, number: int, refused: Refused) -> dict[str, Any]:
        """nvcc decides whether the source is wrong, which Python may catch, or only unsupported."""
        if not refused.is_undecided:
            return {"error": str(refused)}
        try:
            self._compile(extension, number)
        except Refused as worse:
            return {"error" if not worse.is_undecided else "undecided": str(worse)}
        return {"undecided": str(refused).removeprefix("unsupported: ")}

    def _compile(self, extension: Extension, number: int) -> None:
        """Compiles the device code, to learn whether that is possible."""
        with self.store.staging() as folder:
            (folder / "kernel.cu").write_text(text_of(extension, number, self.source), errors="surrogateescape")
            device.compile_device(folder, self.flags, self.store)
