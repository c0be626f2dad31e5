"""The cost model: predicts the time of a sealed candidate on a GPU.

A prediction is not a measurement. It ranks kernels of one task against each other and against the physical limit, and
names the resource that is the bottleneck. design/0004-cost-model.md describes its limits.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace

from warpwright.core.errors import Undecided
from warpwright.core.gpus.limit import arithmetic, physical_limit
from warpwright.core.gpus.table import Gpu, gpu_named
from warpwright.core.launch.plan import Kernel, Launch, Library, Origin, Plan, Upload, View
from warpwright.core.launch.sealed import Sealed
from warpwright.core.records.search import Prediction
from warpwright.core.task import Case, Task
from warpwright.emulate.cost.constants import Calibrated, calibrated
from warpwright.emulate.cost.counting import Counted, LaunchCount, timed_plans
from warpwright.emulate.cost.nodes import node_terms, operations
from warpwright.emulate.cost.terms import Term, Work, terms

_SCALES = ((1e12, "T"), (1e9, "G"), (1e6, "M"), (1e3, "k"), (1.0, ""))


@dataclass(frozen=True, slots=True, kw_only=True)
class _Node:
    """One node of a plan: the time of each resource, and the combined time."""

    terms: tuple[Term, ...]
    seconds: float


def predict(
    task: Task, sealed: Sealed, case: Case, counted: Counted, constants: Calibrated | None = None
) -> Prediction:
    """Predicts the time on the GPU for which the candidate was sealed. Raises Undecided if it could not be counted."""
    if counted.reason is not None:
        raise Undecided(f"no prediction for case {case.name}: {counted.reason}")
    gpu = gpu_named(sealed.manifest.gpu)
    constants = constants or calibrated(gpu.name)
    nodes = list(_nodes(task, sealed, case, counted, gpu, constants))
    overhead = constants.launch_us * 1e-6 + max(len(nodes) - 1, 0) * constants.next_node_us * 1e-6
    merged = [*_merged(nodes), Term(name="launches", seconds=overhead, amount=len(nodes), unit="nodes", rate=0.0)]
    seconds, least = sum(node.seconds for node in nodes) + overhead, _least(task, case, gpu)
    limited_by = _words(max(merged, key=lambda term: term.seconds))
    if seconds < least:
        limited_by = f"the physical limit, below which the model's own {seconds * 1e6:.1f} us lie ({limited_by})"
    return Prediction(
        candidate=sealed.manifest.candidate,
        task=task.key,
        case=case.name,
        gpu=gpu.name,
        time_us=max(seconds, least) * 1e6,
        terms_us={term.name: term.seconds * 1e6 for term in merged if term.seconds},
        limited_by=limited_by,
    )


def _least(task: Task, case: Case, gpu: Gpu) -> float:
    """The seconds that compulsory reads or operations take at least; results may stay in L2."""
    limit = physical_limit(task.work, case, gpu, tf32=task.tolerance.tf32)
    return max(limit.floor_seconds, limit.matrix_seconds, limit.scalar_seconds) if limit else 0.0


def profile_sentence(prediction: Prediction) -> str:
    """Names the bottleneck with its figure, for a search without a profiler."""
    longest = max(prediction.terms_us.values(), default=prediction.time_us)
    return (
        f"Predicted for {prediction.gpu}, not measured: {prediction.time_us:.1f} us, of which"
        f" {longest:.1f} us are needed for {prediction.limited_by}."
    )


def _nodes(
    task: Task, sealed: Sealed, case: Case, counted: Counted, gpu: Gpu, constants: Calibrated
) -> Iterator[_Node]:
    counts = iter(counted.launches)
    shares = iter(_operations(task, sealed, case, counted))
    for plan in timed_plans(task, case, sealed):
        before: set[int] = set()
        for node in plan.nodes:
            if isinstance(node, Launch):
                touched = _reached(plan, node)
                work = _work(sealed, plan, node, next(counts), gpu, constants, touched, before)
                work = replace(work, operations=next(shares), precision=arithmetic(task.work, case)[2])
                yield _together(list(terms(work)), constants)
                before = touched
            else:
                yield _together(node_terms(node, gpu, constants), constants)


def _work(
    sealed: Sealed,
    plan: Plan,
    launch: Launch,
    count: LaunchCount,
    gpu: Gpu,
    constants: Calibrated,
    touched: set[int],
    before: set[int],
) -> Work:
    known = next((kernel for kernel in sealed.kernels if kernel.name == launch.kernel), None)
    footprint = _bytes(plan, touched) or sum(buffer.bytes for buffer in plan.buffers)
    keeps = gpu.l2_mb * 1e6 * constants.l2_share
    warm = _bytes(plan, touched & before) if _bytes(plan, before) <= keeps else 0
    return Work(
        launch=launch,
        count=count,
        kernel=known or Kernel(name=launch.kernel, symbol="", parameters=()),
        gpu=gpu,
        constants=constants,
        footprint=footprint,
        readable=_bytes(plan, touched - _results(plan)) or footprint,
        cold=1.0 - warm / footprint if footprint else 1.0,
    )


def _reached(plan: Plan, launch: Launch) -> set[int]:
    """The buffers whose addresses a launch gets, directly or in an uploaded table."""
    direct = {relocation.buffer for relocation in launch.relocations}
    tables = [node for node in plan.nodes if isinstance(node, Upload) and node.buffer in direct]
    return direct | {relocation.buffer for node in tables for relocation in node.relocations}


def _results(plan: Plan) -> set[int]:
    """The returned buffers that are not arguments."""
    returned = {view.buffer for view in plan.returns if isinstance(view, View)}
    return {number for number in returned if plan.buffers[number].origin is not Origin.ARGUMENT}


def _bytes(plan: Plan, buffers: set[int]) -> int:
    return sum(plan.buffers[number].bytes for number in buffers)


def _operations(task: Task, sealed: Sealed, case: Case, counted: Counted) -> list[float]:
    """The task's arithmetic outside of matrix units and libraries, distributed over launches by memory accesses."""
    matrix, scalar, _ = arithmetic(task.work, case)
    nodes = [node for plan in timed_plans(task, case, sealed) for node in plan.nodes]
    library = sum(operations(node) for node in nodes if isinstance(node, Library))
    on_units = sum(count.counters.get("mma_flops", 0.0) for count in counted.launches)
    left = scalar + max(matrix - library - on_units, 0.0)
    weights = [_accesses(count) for count in counted.launches]
    total = sum(weights)
    return [left * weight / total if total else 0.0 for weight in weights]


def _accesses(count: LaunchCount) -> float:
    names = ("global_loads", "global_stores", "shared_loads", "shared_stores")
    return sum(count.counters.get(name, 0.0) for name in names)


def _together(found: Sequence[Term], constants: Calibrated) -> _Node:
    """Combines resources that overlap imperfectly: slightly more than the slowest alone."""
    longest = max((term.seconds for term in found), default=0.0)
    if not longest:
        return _Node(terms=tuple(found), seconds=0.0)
    power = constants.overlap
    return _Node(
        terms=tuple(found),
        seconds=longest * sum((term.seconds / longest) ** power for term in found) ** (1 / power),
    )


def _merged(nodes: Sequence[_Node]) -> list[Term]:
    """Sums each resource over all nodes."""
    by_name: dict[str, list[Term]] = {}
    for term in (term for node in nodes for term in node.terms if term.seconds):
        by_name.setdefault(term.name, []).append(term)
    return [_sum(found) for found in by_name.values()]


def _sum(found: Sequence[Term]) -> Term:
    seconds, amount = sum(term.seconds for term in found), sum(term.amount for term in found)
    return replace(found[0], seconds=seconds, amount=amount, rate=amount / seconds)


def _words(term: Term) -> str:
    """ "DRAM bandwidth: 268 MB at 4.32 TB/s" """
    if not term.rate:
        return f"{term.name}: {term.amount:.0f} {term.unit}"
    if term.unit == "bytes":
        return f"{term.name}: {_scaled(term.amount)}B at {_scaled(term.rate)}B/s"
    return f"{term.name}: {_scaled(term.amount, ' ')}{term.unit} at {_scaled(term.rate, ' ')}per second"


def _scaled(amount: float, gap: str = "") -> str:
    """ "268 M" """
    factor, prefix = next(((factor, prefix) for factor, prefix in _SCALES if amount >= factor), _SCALES[-1])
    return f"{amount / factor:.3g} {prefix}{gap if prefix else ''}"
