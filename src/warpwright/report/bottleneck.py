"""Names what limits a candidate, in one sentence with the figure that shows it."""

from __future__ import annotations

from collections.abc import Sequence

from warpwright.core.launch.sealed import Sealed
from warpwright.judge.watching import DRAM, L1, L2, SM, WARPS, ProfiledKernel
from warpwright.seal.summary import LaunchSummary, summarise

UNITS = {"DRAM": DRAM, "L2": L2, "L1 and shared memory": L1, "the SMs' pipelines": SM}
BUSY = 60.0
"""Per cent of its peak at which a unit counts as the bottleneck."""
LOW_OCCUPANCY = 0.5


def by_profiler(watched: Sequence[ProfiledKernel]) -> str:
    """Describes the slowest kernel by the profiler's metrics."""
    slowest = max(watched, key=lambda item: item.time_us)
    share = slowest.time_us / sum(item.time_us for item in watched)
    which = f"{slowest.kernel} takes {slowest.time_us:.1f} µs ({share:.0%} of the call)"
    name, metric = max(UNITS.items(), key=lambda unit: slowest.metrics.get(unit[1], 0.0))
    busiest, warps = slowest.metrics.get(metric, 0.0), slowest.metrics.get(WARPS)
    if busiest >= BUSY:
        return f"{which} and is limited by {name}, at {busiest:.0f} % of its peak ({metric})"
    active = "" if warps is None else f", with {warps:.0f} % of the warps an SM can hold ({WARPS})"
    return f"{which} and waits: the busiest unit, {name}, is at {busiest:.0f} % ({metric}){active}"


def by_assembler(sealed: Sealed, case: str) -> str:
    """Describes a candidate by registers, spills and shared memory, without a profiler."""
    kernels = {kernel.name: kernel for kernel in sealed.kernels}
    launches = [launch for plan in summarise(sealed).plans if plan.case == case for launch in plan.launches]
    spilling = [name for name in _names(launches) if name in kernels and kernels[name].spill_stores]
    if spilling:
        kernel = kernels[spilling[0]]
        return f"{kernel.name} spills {kernel.spill_stores} bytes of registers to memory (ptxas)"
    known = [launch for launch in launches if launch.occupancy is not None]
    if not known:
        return "all its work is done by library calls"
    fewest = min(known, key=lambda launch: launch.occupancy or 0.0)
    held = f"{fewest.kernel} can hold {fewest.occupancy:.0%} of an SM's warps (ptxas: registers and shared memory)"
    return held if (fewest.occupancy or 0.0) < LOW_OCCUPANCY else f"{held}: the assembler reports no other limit"


def _names(launches: Sequence[LaunchSummary]) -> list[str]:
    return list(dict.fromkeys(launch.kernel for launch in launches))
