"""Torch's answers to a task, each in a process of its own: one that fails takes no other with it.

Processes serve one task after the other, since starting one takes seconds. They compile at the same time, but what they
measure to choose between variants they measure in turns.
"""

from __future__ import annotations

import random
import tempfile
from collections.abc import Iterable, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from pathlib import Path

from warpwright.core.codec import encode
from warpwright.core.errors import OurFault
from warpwright.core.task import Case, Draw, Task
from warpwright.judge.baselines import process as rival
from warpwright.judge.baselines.timed import Baseline
from warpwright.judge.processes.workers import Process, dismiss
from warpwright.judge.timing.interleaving import PLAIN_SLOTS, RivalLost


@dataclass(slots=True, kw_only=True)
class _Host:
    process: Process
    knows: str | None = None
    """The id of the task that it was told."""


class Rivals:
    """Processes by the name of the baseline."""

    def __init__(self) -> None:
        self._hosts: dict[str, _Host] = {}
        self._folder = tempfile.TemporaryDirectory()

    def close(self) -> None:
        dismiss([host.process for host in self._hosts.values()])
        self._folder.cleanup()

    def start(self, names: Iterable[str]) -> None:
        """Those that are not there, or have failed and were killed."""
        for name in names:
            if name not in self._hosts or not self._hosts[name].process.is_alive():
                self._hosts[name] = _Host(process=Process(rival.compiling if rival.compiles(name) else rival.main))

    def prepared(
        self, names: Sequence[str], task: Task, case: Case, slots: int, generator: random.Random
    ) -> list[Baseline | tuple[str, RivalLost]]:
        """Each of them ready to be timed, or its name and why it is not. Afterwards they are timed alone, in turn."""
        self.start(names)
        calls = range(min(slots, PLAIN_SLOTS))
        draws = [[Draw(case=case, seed=generator.randrange(2**48)) for _ in calls] for _ in names]
        with ThreadPoolExecutor(max(len(names), 1)) as pool:
            made = list(pool.map(self._made, names, [task] * len(names), draws))
        return [_timed_alone(item) if isinstance(item, Baseline) else item for item in made]

    def forget(self) -> None:
        """What was prepared for a case."""
        for host in self._hosts.values():
            if host.process.is_alive():
                host.process.demand("forget")

    def _made(self, name: str, task: Task, draws: Sequence[Draw]) -> Baseline | tuple[str, RivalLost]:
        host = self._hosts[name]
        try:
            if host.knows is None:
                host.process.demand("take_turns", path=str(Path(self._folder.name) / "turns"))
            if host.knows != task.id:
                host.process.demand("task", task=encode(task))
                host.knows = task.id
            return Baseline(name, host.process, draws)
        except RivalLost as lost:
            return name, lost
        except OurFault as fault:
            return name, RivalLost(str(fault))


def _timed_alone(baseline: Baseline) -> Baseline | tuple[str, RivalLost]:
    try:
        baseline.time_alone()
    except RivalLost as lost:
        return baseline.name, lost
    return baseline
