"""One store for all tests here, so that the runtime is compiled once per machine; and kernels of the corpus."""

from __future__ import annotations

import re
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path

import pytest

from warpwright.core.candidate import Candidate
from warpwright.core.task import Case, Role, Task
from warpwright.seal.cache import Store, default_root
from warpwright.tasks.find import load

CORPUS = Path(__file__).parents[1] / "corpus" / "seal"


@dataclass(frozen=True)
class Specimen:
    """A kernel, what it is for, and the check cases of the first type that it takes."""

    source: str
    task: Task
    cases: tuple[Case, ...]

    @property
    def candidate(self) -> Candidate:
        return Candidate(source=self.source)


@pytest.fixture(scope="session")
def store() -> Store:
    return Store(root=default_root())


@pytest.fixture(scope="session")
def specimen() -> Callable[[str], Specimen]:
    """A kernel of the corpus by its name; its first line says what it is."""

    def find(name: str) -> Specimen:
        source = (CORPUS / f"{name}.cu").read_bytes().decode()
        header = re.match(r"\ufeff?// task: (\S+)\s+dtypes: (\w+)", source)
        assert header, f"{name} does not say what it is"
        (task, *_) = load(header[1])
        return Specimen(source, task, tuple(c for c in task.cases if c.role is Role.CHECK and c.dtype == header[2]))

    return find
