"""Runs a built program on staged draws and says what is wrong with the results, one call for each trial."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

from warpwright.core.gpus.table import gpu_named
from warpwright.emulate.program.running import Librarian, Ran, run
from warpwright.emulate.report import Tier
from warpwright.emulate.staging import Execution, Stage, Trial
from warpwright.oracle.truth.reference import Tensors
from warpwright.seal.cache import Store


@dataclass(frozen=True, slots=True, kw_only=True)
class Runner:
    """Where programs run: the GPU that the emulator stands for, and the store for files."""

    gpu: str
    store: Store
    library: Librarian | None = None

    def run(self, built: Path, stages: Sequence[Stage], trials: Sequence[Trial]) -> list[Execution]:
        """The only call of each trial, all of them in one process."""
        steps = [stage.steps()[0] for stage in stages]
        calls = [stage.call(step, trial) for stage, step, trial in zip(stages, steps, trials, strict=True)]
        asked = [call for call in calls if call is not None]
        ran = run(built, asked, gpu_named(self.gpu), self.store, self.library)
        return [Execution(step=step, call=call, ran=one) for step, call, one in zip(steps, asked, ran, strict=True)]


def results_of(stage: Stage, done: Execution) -> Tensors | None:
    """The results, whatever else the emulator found; None if there are none."""
    return None if done.ran.report is None else stage.results([done])


def is_undecided(ran: Ran) -> bool:
    """Whether the call ended for a reason that says nothing about the kernel."""
    report = ran.report
    if report is None or report.trace.outcome != "captured":
        return True
    return report.outcome in ("unsupported", "library", "budget") or report.sampling is not None


def fault_of(ran: Ran) -> str | None:
    """Why a GPU would fault or hang."""
    report = ran.report
    if report is None:
        return None
    fatal = next((item for item in report.findings if item.severity is Tier.FATAL), None)
    return None if fatal is None else f"{fatal.kind}: {fatal.message}"
