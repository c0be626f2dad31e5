"""The functions of the API for programs with an event loop: each runs in a thread, and the loop goes on meanwhile.

Progress is reported from that thread. An await that is cancelled leaves its work to end by itself.
"""

from __future__ import annotations

import asyncio
import functools
from collections.abc import Callable, Coroutine
from typing import Any, ParamSpec, TypeVar

from warpwright.app import compose as composing
from warpwright.app import tasks as loading
from warpwright.app.kernels import bench as judging
from warpwright.app.kernels import benchmark as benchmarks
from warpwright.app.kernels import check as checking
from warpwright.app.kernels import export as exporting
from warpwright.app.kernels import prove as proving
from warpwright.app.kernels import seal as sealing
from warpwright.app.kernels import suite as suites
from warpwright.app.searches import optimize as searching
from warpwright.app.searches import reports as reporting
from warpwright.app.searches import tune as tuning

Given = ParamSpec("Given")
Result = TypeVar("Result")


def _in_thread(function: Callable[Given, Result]) -> Callable[Given, Coroutine[Any, Any, Result]]:
    @functools.wraps(function)
    async def twin(*args: Given.args, **kwargs: Given.kwargs) -> Result:
        return await asyncio.to_thread(function, *args, **kwargs)

    return twin


task = _in_thread(loading.task)
check = _in_thread(checking.check)
check_all = _in_thread(checking.check_all)
prove = _in_thread(proving.prove)
export = _in_thread(exporting.export)
seal = _in_thread(sealing.seal)
bench = _in_thread(judging.bench)
compare = _in_thread(judging.compare)
run_benchmark = _in_thread(benchmarks.run_benchmark)
bench_suite = _in_thread(suites.bench_suite)
compose = _in_thread(composing.compose)
optimize = _in_thread(searching.optimize)
translate = _in_thread(searching.translate)
repair = _in_thread(searching.repair)
resume = _in_thread(searching.resume)
tune = _in_thread(tuning.tune)
report = _in_thread(reporting.report)
