"""What an examination runs: a compiled program, or another way to run a candidate on the CPU."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Protocol

from warpwright.core.gpus.table import gpu_named
from warpwright.emulate.program.calls import EmulatedCall
from warpwright.emulate.program.lines import resolved
from warpwright.emulate.program.running import Librarian, Ran, run
from warpwright.seal.cache import Store


class Runner(Protocol):
    def run(self, calls: Sequence[EmulatedCall]) -> list[Ran]:
        """Runs every call."""

    def lines(self, codes: Iterable[int]) -> Mapping[int, int]:
        """The lines of the source that code positions in the reports belong to."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Program:
    """A compiled program."""

    path: Path
    gpu: str
    store: Store
    library: Librarian | None = None
    """Executes torch operations of host code; without it a candidate with such operations is undecided."""

    def run(self, calls: Sequence[EmulatedCall]) -> list[Ran]:
        return run(self.path, calls, gpu_named(self.gpu), self.store, self.library)

    def lines(self, codes: Iterable[int]) -> Mapping[int, int]:
        with self.store.staging() as folder:
            return resolved(self.path, codes, folder)
