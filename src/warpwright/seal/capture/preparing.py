"""The optional `prepare`: constant arguments in, tensors of the candidate's own out, which `forward` then gets instead.

Both entries are captured and planned like any other. `prepare` runs once and `forward` many times, so its results are
constants: a `forward` that changes them is refuted by whoever runs it.
"""

from __future__ import annotations

from warpwright.core.launch.plan import View
from warpwright.core.launch.sealed import PREPARE, with_prepared
from warpwright.core.signature import Spec, TensorSpec, arguments
from warpwright.core.task import Case, Direction, Task
from warpwright.seal.capture.calls import ALIGNMENT
from warpwright.seal.capture.observe import Call
from warpwright.seal.capture.traced import Trace
from warpwright.seal.plans.expectations import handed_on
from warpwright.seal.refusal import refuted, undecided


def may_prepare(task: Task) -> bool:
    """Weights are constant for `forward` alone: where there are gradients, they are about to change."""
    return bool(task.prepares) and task.direction is Direction.FORWARD


def prepare_call(task: Task, case: Case) -> Call:
    if task.mutates:
        raise undecided("unsupported: prepare, in a task that changes its arguments")
    named = {spec.name: spec for spec in arguments(task, case)}
    return Call(entry=PREPARE, case=case.name, arguments=tuple(named[name] for name in task.prepares))


def forward_call(task: Task, case: Case, prepared: Trace) -> Call:
    """The call of `forward` with what this capture of `prepare` returned."""
    results: list[Spec] = [_result(case, number, value) for number, value in enumerate(prepared.returns)]
    return Call(entry="forward", case=case.name, arguments=tuple(with_prepared(task, arguments(task, case), results)))


def _result(case: Case, number: int, value: object) -> TensorSpec:
    if not isinstance(value, View):
        raise refuted("returns", f"prepare returns something that is no device tensor ({number})", case=case.name)
    if value.offset % ALIGNMENT:
        raise undecided(f"unsupported: result {number} of prepare starts within its buffer; a copy of it would not")
    return handed_on(f"prepared_{number}", value)
