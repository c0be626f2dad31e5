"""Tools that start, watch and stop searches. A search runs in a process of its own, as long as the server does.

Its records are in the archive, so it can be watched from anywhere, stopped at any moment and resumed exactly.
"""

from __future__ import annotations

import multiprocessing
import os
import signal
from dataclasses import dataclass, field
from multiprocessing.process import BaseProcess

from mcp.server.mcpserver import Context

from warpwright.app.searches.optimize import record, resume
from warpwright.app.searches.reports import history, kernel, report, runs
from warpwright.core.records.search import Snapshot
from warpwright.mcp.answers import Document, answered, plain
from warpwright.report.funnel import best, funnel
from warpwright.report.scores import spent_words, standing_words


@dataclass(slots=True)
class Searches:
    """The searches of one archive, and those that this server is running."""

    archive: str | None = None
    _running: dict[str, BaseProcess] = field(default_factory=dict)

    async def optimize(
        self,
        context: Context,
        task: str,
        inputs: list[str] | None = None,
        models: list[str] | None = None,
        budget: float | None = None,
        minutes: float | None = None,
        generations: int = 10,
        gpu: str = "h200",
    ) -> Document:
        """Start a search for a fast kernel; without models the composer writes the kernels, free of charge.

        Returns the run's id at once; `watch` shows how it goes, `stop` ends it, `resume` goes on with it.
        """
        run = await answered(
            context,
            record,
            task,
            inputs=inputs or (),
            models=models or [],
            budget=budget,
            minutes=minutes,
            generations=generations,
            gpu=gpu,
            archive=self.archive,
        )
        return self.resume(run.id)

    def resume(self, run: str) -> Document:
        """Go on with a search that stopped or was stopped."""
        if not self._is_running(run):
            spawned = multiprocessing.get_context("spawn")
            process = spawned.Process(target=resume, args=(run,), kwargs={"archive": self.archive}, daemon=False)
            process.start()
            self._running[run] = process
        return {"run": run, "running": True}

    def watch(self, run: str) -> Document:
        """Show how a search goes: what became of its proposals, the best kernel so far, what was spent."""
        snapshot = history(run, self.archive)
        return {**_standing(snapshot), "running": self._is_running(snapshot.run.id)}

    def stop(self, run: str) -> Document:
        """Stop a search. Nothing that was recorded is lost, and `resume` goes on with the same decisions."""
        process = self._running.pop(run, None)
        if process is not None and process.is_alive() and process.pid is not None:
            os.kill(process.pid, signal.SIGINT)
            process.join(10)
            process.kill()
        return self.watch(run)

    def history(self, run: str) -> Document:
        """Show every decision of a search with its reason, and every proposal with its outcome."""
        snapshot = history(run, self.archive)
        return plain({"decisions": snapshot.decisions, "members": snapshot.members, "lessons": snapshot.lessons})

    def list_runs(self) -> Document:
        """List the searches of the archive."""
        return {"runs": [_standing(snapshot) for snapshot in runs(self.archive)]}

    def page(self, run: str) -> str:
        """A page on a search, as HTML that opens anywhere."""
        return report([run], archive=self.archive).page

    def source(self, candidate: str) -> str:
        """The source of a kernel that a search proposed."""
        return kernel(candidate, self.archive).source

    def close(self) -> None:
        """Stops the searches of this server."""
        for run in list(self._running):
            self.stop(run)

    def _is_running(self, run: str) -> bool:
        process = self._running.get(run)
        return process is not None and process.is_alive()


def _standing(snapshot: Snapshot) -> Document:
    winner = best(snapshot)
    return {
        "run": snapshot.run.id,
        "task": snapshot.run.task,
        "best": standing_words(winner) if winner else None,
        "candidate": winner.candidate if winner else None,
        "proposals": plain(funnel(snapshot)),
        "spent": spent_words(snapshot.spent),
        "last": snapshot.decisions[-1].reason if snapshot.decisions else None,
    }
