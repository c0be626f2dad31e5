"""A pool of baseline processes, one for each baseline, so that a failing baseline does not end the others.

A process takes seconds to start and therefore serves one task after the other. Processes compile at the same time; the
measurements by which they choose between variants take turns.
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
    """The id of the task sent to the process last; None before the first."""


class BaselinePool:
    """A pool of baseline processes, by the name of the baseline."""

    def __init__(self) -> None:
        self._hosts: dict[str, _Host] = {}
        self._folder = tempfile.TemporaryDirectory()

    def close(self) -> None:
        shut_down([host.process for host in self._hosts.values()])
        self._folder.cleanup()

    def start(self, names: Iterable[str]) -> None:
        """Starts a process for each named baseline that has none, or whose process has ended."""
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
        """Prepares the named baselines for a case and times each alone, one after the other.

        Returns for each baseline either what can be timed or its name with the reason why it dropped out.
        """
        self.start(names)
        calls = range(min(slots, PLAIN_SLOTS))
        draws = [[Draw(case=case, seed=generator.randrange(2**48)) for _ in calls] for _ in names]
        with ThreadPoolExecutor(max(len(names), 1)) as pool:
            made = list(pool.map(self._made, names, [task] * len(names), draws))
        return [_timed_alone(item) if isinstance(item, TimedBaseline) else item for item in made]

    def forget(self) -> None:
        """Releases everything that was prepared for the last case."""
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
