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
from warpwright.judge.baselines import process as baseline_process
from warpwright.judge.baselines.timed import TimedBaseline
from warpwright.judge.processes.workers import Worker, shut_down
from warpwright.judge.timing.interleaving import PLAIN_SLOTS, DroppedOut


@dataclass(slots=True, kw_only=True)
class _Host:
    process: Worker
    task_id: str | None = None
    """The id of the task that it was told."""


class BaselinePool:
    """Processes by the name of the baseline."""

    def __init__(self) -> None:
        self._hosts: dict[str, _Host] = {}
        self._folder = tempfile.TemporaryDirectory()

    def close(self) -> None:
        shut_down([host.process for host in self._hosts.values()])
        self._folder.cleanup()

    def start(self, names: Iterable[str]) -> None:
        """Those that are not there, or have failed and were killed."""
        for name in names:
            if name not in self._hosts or not self._hosts[name].process.is_alive():
                self._hosts[name] = _Host(
                    process=Worker(
                        baseline_process.compiling if baseline_process.compiles(name) else baseline_process.main
                    )
                )

    def prepared(
        self, names: Sequence[str], task: Task, case: Case, slots: int, generator: random.Random
    ) -> list[TimedBaseline | tuple[str, DroppedOut]]:
        """Each of them ready to be timed, or its name and why it is not. Afterwards they are timed alone, in turn."""
        self.start(names)
        calls = range(min(slots, PLAIN_SLOTS))
        draws = [[Draw(case=case, seed=generator.randrange(2**48)) for _ in calls] for _ in names]
        with ThreadPoolExecutor(max(len(names), 1)) as pool:
            made = list(pool.map(self._made, names, [task] * len(names), draws))
        return [_timed_alone(item) if isinstance(item, TimedBaseline) else item for item in made]

    def forget(self) -> None:
        """What was prepared for a case."""
        for host in self._hosts.values():
            if host.process.is_alive():
                host.process.demand("forget")

    def _made(self, name: str, task: Task, draws: Sequence[Draw]) -> TimedBaseline | tuple[str, DroppedOut]:
        host = self._hosts[name]
        try:
            if host.task_id is None:
                host.process.demand("share_lock", path=str(Path(self._folder.name) / "turns"))
            if host.task_id != task.id:
                host.process.demand("task", task=encode(task))
                host.task_id = task.id
            return TimedBaseline(name, host.process, draws)
        except DroppedOut as lost:
            return name, lost
        except OurFault as fault:
            return name, DroppedOut(str(fault))


def _timed_alone(baseline: TimedBaseline) -> TimedBaseline | tuple[str, DroppedOut]:
    try:
        baseline.time_alone()
    except DroppedOut as lost:
        return baseline.name, lost
    return baseline
