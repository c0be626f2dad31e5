"""Summarises a sealed candidate in a few figures, as plain data for display."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping
from dataclasses import dataclass

from warpwright.core.gpus.table import gpu_named
from warpwright.core.launch.plan import Kernel, Launch, Library, Origin, Plan, Triple
from warpwright.core.launch.sealed import Sealed
from warpwright.seal.plans.occupancy import occupancy


@dataclass(frozen=True, slots=True, kw_only=True)
class LaunchSummary:
    kernel: str
    grid: Triple
    block: Triple
    cluster: Triple
    shared: int
    cooperative: bool
    occupancy: float | None
    """The predicted fraction of a multiprocessor's warps; None without device code."""


@dataclass(frozen=True, slots=True, kw_only=True)
class PlanSummary:
    case: str
    entry: str
    launches: tuple[LaunchSummary, ...]
    library: tuple[str, ...]
    operations: Mapping[str, int]
    """The number of nodes of each other kind: fill, memset, upload, copy."""
    scratch_buffers: int
    scratch_bytes: int


@dataclass(frozen=True, slots=True, kw_only=True)
class Summary:
    id: str
    entries: tuple[str, ...]
    kernels: tuple[Kernel, ...]
    """The kernels that some plan launches."""
    plans: tuple[PlanSummary, ...]
    seconds: Mapping[str, float]

    @property
    def warnings(self) -> tuple[str, ...]:
        """Tells which cases are left to torch, without a kernel of the candidate's own."""
        by_case: dict[str, int] = {}
        for plan in self.plans:
            by_case[plan.case] = by_case.get(plan.case, 0) + len(plan.launches)
        without = [case for case, launches in by_case.items() if not launches]
        if not without:
            return ()
        where = "" if len(without) == len(by_case) else f" in case {', '.join(without)}"
        return (f"library work: no kernel of its own runs{where}, everything is torch's",)


def summarise(sealed: Sealed) -> Summary:
    launched = {node.kernel for plan in sealed.plans for node in plan.nodes if isinstance(node, Launch)}
    return Summary(
        id=sealed.id,
        entries=sealed.entries,
        kernels=tuple(kernel for kernel in sealed.kernels if kernel.name in launched),
        plans=tuple(_plan(sealed, plan) for plan in sealed.plans),
        seconds=sealed.manifest.seconds,
    )


def _plan(sealed: Sealed, plan: Plan) -> PlanSummary:
    others = Counter(node.KIND for node in plan.nodes if not isinstance(node, Launch | Library))
    scratch = [buffer.bytes for buffer in plan.buffers if buffer.origin is Origin.SCRATCH]
    return PlanSummary(
        case=plan.case,
        entry=plan.entry,
        launches=tuple(_launch(sealed, node) for node in plan.nodes if isinstance(node, Launch)),
        library=tuple(node.operation for node in plan.nodes if isinstance(node, Library)),
        operations=dict(others),
        scratch_buffers=len(scratch),
        scratch_bytes=sum(scratch),
    )


def _launch(sealed: Sealed, launch: Launch) -> LaunchSummary:
    kernel = next((kernel for kernel in sealed.kernels if kernel.name == launch.kernel), None)
    return LaunchSummary(
        kernel=launch.kernel,
        grid=launch.grid,
        block=launch.block,
        cluster=launch.cluster,
        shared=launch.shared,
        cooperative=launch.cooperative,
        occupancy=occupancy(gpu_named(sealed.manifest.gpu), kernel, launch) if kernel else None,
    )
