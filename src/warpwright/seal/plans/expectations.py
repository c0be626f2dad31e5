"""Checks a plan before it reaches a GPU: arguments as requested, known types, valid launches, results of the right
form."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import asdict

from warpwright.core.calls import PREPARE, EntryCall
from warpwright.core.dtypes import DTYPES
from warpwright.core.gpus.table import Gpu
from warpwright.core.launch.plan import Fill, Kernel, Launch, Library, Origin, Plan, View
from warpwright.core.signature import Spec, TensorSpec, flatten
from warpwright.seal.capture.calls import ALIGNMENT, storage_bytes
from warpwright.seal.plans.building import touched
from warpwright.seal.plans.occupancy import violations
from warpwright.seal.refusal import refuted, undecided


def check_given(plan: Plan, asked: Sequence[Spec]) -> None:
    """Checks that exactly the first buffers are arguments, since the judge places inputs by number."""
    sizes = [storage_bytes(tensor) for spec in asked for tensor in flatten(spec)]
    given = [buffer.bytes for buffer in plan.buffers[: len(sizes)] if buffer.origin is Origin.ARGUMENT]
    others = [buffer for buffer in plan.buffers[len(sizes) :] if buffer.origin is Origin.ARGUMENT]
    if given != sizes or others or len(plan.arguments) != len(sizes):
        raise refuted("trace", "the capture program reports arguments that it was not given", case=plan.case)


def check_types(plan: Plan) -> None:
    """Checks that the judge can make every tensor that a torch operation uses."""
    filled = [node.target for node in plan.nodes if isinstance(node, Fill)]
    used = [item for node in plan.nodes if isinstance(node, Library) for item in (*node.inputs, *node.outputs)]
    for item in (*filled, *used):
        if item is not None and item.dtype not in DTYPES:
            raise undecided(f"unsupported: operations on {item.dtype:.40}")


def handed_over(call: EntryCall, returned: Sequence[object], case: str) -> tuple[TensorSpec, ...]:
    """The tensors that a call returned for a later entry, as arguments of that entry."""
    return tuple(_handed_over(call, number, value, case) for number, value in enumerate(call.handed_over(returned)))


def _handed_over(call: EntryCall, number: int, value: object, case: str) -> TensorSpec:
    if not isinstance(value, View):
        verb = "returns" if call.entry == PREPARE else "saves"
        message = f"{call.entry} {verb} a value that is not a device tensor ({number})"
        raise refuted("returns", message, case=case)
    if call.entry == PREPARE and value.offset % ALIGNMENT:
        raise undecided(f"unsupported: result {number} of prepare starts within its buffer; a copy of it would not")
    if value.dtype not in DTYPES:
        raise undecided(f"unsupported: tensors of {value.dtype:.40} that are handed on")
    return TensorSpec(name=f"{call.hands_over}_{number}", shape=value.shape, stride=value.stride, dtype=value.dtype)


def check_launches(plan: Plan, kernels: Mapping[str, Kernel] | None, gpu: Gpu) -> None:
    """Refuses the first invalid launch; without device code, only limits that do not depend on it are checked."""
    for launch in (node for node in plan.nodes if isinstance(node, Launch)):
        kernel = None if kernels is None else kernels.get(launch.kernel)
        if kernels is not None and kernel is None:
            raise undecided(f"unsupported: {launch.kernel} is launched but is not in the device code by that name")
        if kernel is not None:
            _check_arguments(launch, kernel)
        for kind, message in violations(gpu, launch, kernel, plan.attributes.get(launch.kernel, {})):
            shape = {"grid": launch.grid, "block": launch.block, "shared": launch.shared, "cluster": launch.cluster}
            facts = {"kernel": launch.kernel, **shape}
            raise refuted(kind, f"{launch.kernel}: {message}", case=plan.case, facts=facts)


def _check_arguments(launch: Launch, kernel: Kernel) -> None:
    """Checks argument sizes: the driver copies as many bytes as the kernel declares."""
    given = tuple(len(argument) for argument in launch.arguments)
    if given != kernel.parameters:
        raise undecided(f"unsupported: {kernel.name} takes {kernel.parameters} bytes, the capture has {given}")


def check_returns(plan: Plan, call: EntryCall) -> None:
    """Refutes results of another number, form or place than the task requires, and results that no node writes."""
    expected, returned = call.results, call.required(plan.returns)
    if len(returned) != len(expected):
        message = f"{plan.entry} returns {len(plan.returns)} tensors, the task requires {len(expected)}"
        raise refuted("returns", message, case=plan.case)
    if any(plan.buffers[view.buffer].origin is Origin.SYMBOL for view in plan.returns if isinstance(view, View)):
        raise undecided("unsupported: a result that lies in a device variable, which the next call would overwrite")
    for position, (view, spec) in enumerate(zip(returned, expected, strict=False)):
        if not isinstance(view, View):
            raise refuted("returns", f"{spec.name} is not returned as a device tensor", case=plan.case)
        if (view.shape, view.dtype) != (spec.shape, spec.dtype):
            found = f"{view.dtype}{list(view.shape)}"
            message = f"result {position} ({spec.name}) is {found}, the task requires {spec.dtype}{list(spec.shape)}"
            raise refuted("returns", message, case=plan.case, facts={"found": asdict(view), "expected": asdict(spec)})
        if not _is_written(plan, view):
            raise refuted("returns", f"result {position} ({spec.name}) is never written", case=plan.case)


def _is_written(plan: Plan, view: View) -> bool:
    """Whether some node may write the view's buffer. Newly allocated memory holds garbage."""
    fresh = plan.buffers[view.buffer].origin is Origin.SCRATCH and 0 not in view.shape
    return not fresh or any(view.buffer in touched(node) for node in plan.nodes)
