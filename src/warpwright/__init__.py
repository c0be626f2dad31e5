"""Warpwright: PyTorch functions in, CUDA kernels out: verified, measured honestly, and faster.

    import warpwright as ww

    ww.check("kernel.cu", task="layernorm")

docs/api.md describes what is public. A public name is loaded when it is first used, so that importing the package
costs next to nothing.
"""

from __future__ import annotations

import sys
from importlib import import_module
from types import ModuleType
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from warpwright.app import aio as aio
    from warpwright.app.compose import Composed as Composed
    from warpwright.app.compose import compose as compose
    from warpwright.app.kernels.bench import Benched as Benched
    from warpwright.app.kernels.bench import bench as bench
    from warpwright.app.kernels.bench import compare as compare
    from warpwright.app.kernels.benchmark import BenchmarkResult as BenchmarkResult
    from warpwright.app.kernels.benchmark import run_benchmark as run_benchmark
    from warpwright.app.kernels.check import Checked as Checked
    from warpwright.app.kernels.check import check as check
    from warpwright.app.kernels.check import check_all as check_all
    from warpwright.app.kernels.export import export as export
    from warpwright.app.kernels.prove import Proved as Proved
    from warpwright.app.kernels.prove import prove as prove
    from warpwright.app.kernels.seal import SealedKernel as SealedKernel
    from warpwright.app.kernels.seal import seal as seal
    from warpwright.app.kernels.suite import SuiteResult as SuiteResult
    from warpwright.app.kernels.suite import bench_suite as bench_suite
    from warpwright.app.progress import Update as Update
    from warpwright.app.searches.optimize import Searched as Searched
    from warpwright.app.searches.optimize import optimize as optimize
    from warpwright.app.searches.optimize import repair as repair
    from warpwright.app.searches.optimize import resume as resume
    from warpwright.app.searches.optimize import translate as translate
    from warpwright.app.searches.reports import Report as Report
    from warpwright.app.searches.reports import history as history
    from warpwright.app.searches.reports import report as report
    from warpwright.app.searches.reports import runs as runs
    from warpwright.app.searches.tune import TuneResult as TuneResult
    from warpwright.app.searches.tune import tune as tune
    from warpwright.app.tasks import task as task
    from warpwright.app.tasks import tasks as tasks
    from warpwright.core.candidate import Candidate as Candidate
    from warpwright.core.candidate import Flags as Flags
    from warpwright.core.errors import ModelFailed as ModelFailed
    from warpwright.core.errors import OurFault as OurFault
    from warpwright.core.errors import TaskError as TaskError
    from warpwright.core.errors import Undecided as Undecided
    from warpwright.core.errors import UsageError as UsageError
    from warpwright.core.errors import WarpwrightError as WarpwrightError
    from warpwright.core.records.evidence import Verdict as Verdict
    from warpwright.core.task import Task as Task

__version__ = "0.1.0"

_HOMES = {
    **dict.fromkeys(("Composed", "compose"), "app.compose"),
    **dict.fromkeys(("Benched", "bench", "compare"), "app.kernels.bench"),
    **dict.fromkeys(("BenchmarkResult", "run_benchmark"), "app.kernels.benchmark"),
    **dict.fromkeys(("Checked", "check", "check_all"), "app.kernels.check"),
    "export": "app.kernels.export",
    **dict.fromkeys(("Proved", "prove"), "app.kernels.prove"),
    **dict.fromkeys(("SealedKernel", "seal"), "app.kernels.seal"),
    **dict.fromkeys(("SuiteResult", "bench_suite"), "app.kernels.suite"),
    **dict.fromkeys(("Searched", "optimize", "repair", "resume", "translate"), "app.searches.optimize"),
    **dict.fromkeys(("Report", "history", "report", "runs"), "app.searches.reports"),
    **dict.fromkeys(("TuneResult", "tune"), "app.searches.tune"),
    **dict.fromkeys(("task", "tasks"), "app.tasks"),
    "Update": "app.progress",
    "Task": "core.task",
    "Verdict": "core.records.evidence",
    **dict.fromkeys(("Candidate", "Flags"), "core.candidate"),
    **dict.fromkeys(
        ("ModelFailed", "OurFault", "TaskError", "Undecided", "UsageError", "WarpwrightError"), "core.errors"
    ),
}
"""The module that defines each public name."""
_MODULES = {"aio": "app.aio"}
"""Public modules."""


class _Package(ModuleType):
    """The package, in which a public function wins over a room of the same name.

    Importing a module below `warpwright.seal` would otherwise bind the room to the name `seal` of this package, where
    users find the function.
    """

    def __setattr__(self, name: str, value: Any) -> None:
        if not (name in _HOMES and isinstance(value, ModuleType)):
            super().__setattr__(name, value)


def __getattr__(name: str) -> Any:
    if name in _MODULES:
        value: Any = import_module(f"{__name__}.{_MODULES[name]}")
    elif name in _HOMES:
        value = getattr(import_module(f"{__name__}.{_HOMES[name]}"), name)
    else:
        raise AttributeError(f"module '{__name__}' has no attribute '{name}'")
    globals()[name] = value
    return value


def __dir__() -> list[str]:
    return sorted({*globals(), *_HOMES, *_MODULES})


sys.modules[__name__].__class__ = _Package
