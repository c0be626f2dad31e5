"""Candidates sealed, each by its own language."""

from __future__ import annotations

from collections.abc import Sequence
from concurrent.futures import ThreadPoolExecutor

from warpwright.core.candidate import Candidate
from warpwright.core.launch.sealed import Sealed
from warpwright.core.task import Case, Task
from warpwright.languages.registry import of
from warpwright.seal import toolchain
from warpwright.seal.cache import Store
from warpwright.seal.refusal import Refusal


def seal(
    task: Task, candidate: Candidate, cases: Sequence[Case] | None = None, store: Store | None = None
) -> Sealed | Refusal:
    """The sealed candidate, or why it cannot be sealed. Only our faults raise."""
    return of(candidate).seal(task, candidate, cases, store)


def seal_many(
    task: Task, candidates: Sequence[Candidate], cases: Sequence[Case] | None = None, store: Store | None = None
) -> list[Sealed | Refusal]:
    """Several candidates of one task on all cores, in their order."""
    with ThreadPoolExecutor(toolchain.cores()) as pool:
        return list(pool.map(lambda candidate: seal(task, candidate, cases, store), candidates))
