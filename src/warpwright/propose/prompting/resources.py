"""Describes what a compiled kernel takes from the GPU: registers, spills, shared memory, blocks, waves."""

from __future__ import annotations

from collections.abc import Iterator

from warpwright.core.gpus.table import Gpu
from warpwright.core.launch.plan import Kernel
from warpwright.seal.summary import LaunchSummary, PlanSummary, Summary

_MOST_LAUNCHES = 6


def resources(summary: Summary, cases: frozenset[str], gpu: Gpu) -> str:
    """Returns a line for each kernel and, for each of these cases, one for its launches."""
    plans = [plan for plan in summary.plans if plan.case in cases]
    launched = {launch.kernel for plan in plans for launch in plan.launches}
    lines = [_kernel(kernel) for kernel in summary.kernels if kernel.name in launched]
    return "\n".join([*lines, *(_plan(plan, gpu) for plan in plans)])


def _kernel(kernel: Kernel) -> str:
    parts = [f"{kernel.registers} registers per thread"] if kernel.registers is not None else []
    if kernel.spill_stores or kernel.spill_loads:
        parts.append(f"spills {kernel.spill_stores or 0} B in stores and {kernel.spill_loads or 0} B in loads")
    parts += [f"{kernel.static_shared} B static shared memory"] if kernel.static_shared else []
    return f"- {kernel.name}: {', '.join(parts) or 'not compiled here'}"


def _plan(plan: PlanSummary, gpu: Gpu) -> str:
    steps = [*(_launch(launch, gpu) for launch in plan.launches[:_MOST_LAUNCHES]), *_others(plan)]
    name = plan.case if plan.entry == "forward" else f"{plan.case}, {plan.entry}"
    return f"- {name}: {'; '.join(steps)}"


def _launch(launch: LaunchSummary, gpu: Gpu) -> str:
    blocks, threads = _product(launch.grid), _product(launch.block)
    parts = [f"{blocks} blocks of {threads} threads"]
    parts += [f"{launch.shared} B dynamic shared memory"] if launch.shared else []
    if launch.occupancy:
        resident = max(int(launch.occupancy * gpu.architecture.threads_per_sm / threads), 1)
        waves = blocks / (resident * gpu.sms)
        parts.append(f"{resident} blocks per SM at once ({launch.occupancy:.0%} occupancy), {waves:.3g} waves")
    return f"{_short(launch.kernel)}: {', '.join(parts)}"


def _others(plan: PlanSummary) -> Iterator[str]:
    hidden = len(plan.launches) - _MOST_LAUNCHES
    if hidden > 0:
        yield f"{hidden} launches more"
    if plan.library:
        yield f"library: {', '.join(plan.library)}"
    yield from (f"{count} {kind}" for kind, count in plan.operations.items() if count)


def _short(kernel: str) -> str:
    return kernel.partition("(")[0]


def _product(sizes: tuple[int, int, int]) -> int:
    return sizes[0] * sizes[1] * sizes[2]
