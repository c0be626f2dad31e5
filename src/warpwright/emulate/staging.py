"""One draw of a task as calls of a program, and what came back as tensors: the oracle's side of the wall."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any

from warpwright.core.dtypes import dtype_named
from warpwright.core.launch.plan import View
from warpwright.core.launch.sealed import PREPARE, with_prepared
from warpwright.core.signature import (
    Spec,
    TensorSpec,
    arguments,
    arranged,
    flatten,
    forward_arguments,
    output_gradients,
)
from warpwright.core.task import Direction, Draw, Task
from warpwright.emulate.program.calls import Call, Order
from warpwright.emulate.program.running import Ran
from warpwright.oracle.inputs.storage import Tensor, from_bytes, to_bytes
from warpwright.oracle.truth.expected import Scenario, scenario
from warpwright.oracle.truth.reference import Tensors, tensors_in
from warpwright.seal.capture.preparing import may_prepare

if TYPE_CHECKING:
    from warpwright.emulate.report import Report


@dataclass(frozen=True, slots=True, kw_only=True)
class Trial:
    """A draw, and how it is to be run."""

    draw: Draw
    order: Order = Order.FORWARD
    shifted: bool = False
    blocks: int | None = None
    """At most so many of each launch; all if None."""
    again: bool = False
    """Asked twice in a row: a kernel that remembers the first answer owes the second as well."""

    @property
    def label(self) -> str:
        how = ", shifted by one element" if self.shifted else ", asked again" if self.again else ""
        return self.draw.case.name + how


@dataclass(frozen=True, slots=True, kw_only=True)
class Stage:
    """A draw made real."""

    task: Task
    draw: Draw
    given: Scenario

    def preparing(self, trial: Trial) -> Call | None:
        """The call of `prepare`; None where the task has nothing to prepare."""
        if not may_prepare(self.task):
            return None
        named = self._named()
        contents = [to_bytes(tensor) for name in self.task.prepares for tensor in tensors_in(named[name][1])]
        specs = tuple(named[name][0] for name in self.task.prepares)
        # What is prepared is made whole, whatever is then sampled.
        return _call(PREPARE, specs, contents, replace(trial, blocks=None))

    def after(self, trial: Trial, prepared: Ran) -> Call | None:
        """The call of `forward` on what was prepared; None where that is not to be had."""
        results = [(view, prepared.contents.get(view.buffer)) for view in _views(prepared.report)]
        if not results or any(content is None for _, content in results):
            return None
        own = [(spec, [to_bytes(tensor) for tensor in tensors_in(value)]) for spec, value in self._named().values()]
        made: list[tuple[Spec, list[bytes]]] = [
            (_handed_on(f"prepared_{number}", view), [(content or b"")[view.offset :]])
            for number, (view, content) in enumerate(results)
        ]
        taken = with_prepared(self.task, own, made)
        specs, contents = tuple(spec for spec, _ in taken), [content for _, held in taken for content in held]
        return _call("forward", specs, contents, trial)

    def _named(self) -> dict[str, tuple[Spec, Any]]:
        specs = forward_arguments(self.task, self.draw.case)
        return {spec.name: (spec, value) for spec, value in zip(specs, self.given.arguments, strict=True)}

    def first(self, trial: Trial) -> Call:
        """The call that the task's direction is named for; forward's for a training pair."""
        backward = self.task.direction is Direction.BACKWARD
        specs = arguments(self.task, self.draw.case)
        return _call("backward" if backward else "forward", specs, self._contents(), trial)

    def _contents(self) -> list[bytes]:
        given = self.given
        if self.task.direction is not Direction.BACKWARD:
            return [to_bytes(tensor) for tensor in tensors_in(given.arguments)]
        ordered = arranged(self.task, self.draw.case, given.gradients, given.saves, given.arguments)
        return [to_bytes(tensor) for tensor in tensors_in(ordered)]

    def second(self, trial: Trial, forward: Ran) -> Call | None:
        """The backward half of a training pair, on what the first half saved; None where that is not to be had."""
        saved = _views(forward.report)[len(self.task.outputs) :]
        held = [(view, forward.contents.get(view.buffer)) for view in saved]
        if any(content is None for _, content in held):
            return None
        specs: list[Spec] = [*output_gradients(self.task, self.draw.case)]
        specs += [_handed_on(f"saved_{number}", view) for number, view in enumerate(saved)]
        contents = [to_bytes(tensor) for tensor in self.given.gradients]
        contents += [(content or b"")[view.offset :] for view, content in held]
        return _call("backward", tuple(specs), contents, trial)

    def results(self, first: Ran, second: Ran | None) -> Tensors | None:
        """What is owed, in the order of the oracle; None where bytes are missing."""
        outputs = _views(first.report)
        if self.task.direction is Direction.TRAINING:
            outputs = outputs[: len(self.task.outputs)]
        found = [_tensor(first, view) for view in outputs]
        found += [self._mutated(first, number) for number in sorted(self.mutable)]
        found += [_tensor(second, view) for view in _views(second.report)] if second else []
        return None if any(tensor is None for tensor in found) else [tensor for tensor in found if tensor is not None]

    def only_written(self, ran: Ran, values: Tensors, truth: Sequence[Tensor]) -> Tensors:
        """Where blocks were left out, the truth stands for what they would have written."""
        views = _views(ran.report)
        masks = [_mask(ran, view) for view in views]
        pairs = zip(values, masks, truth, strict=False)
        return [value if mask is None else value.where(mask, right.to(value.dtype)) for value, mask, right in pairs]

    def changed(self, ran: Ran, call: Call) -> str | None:
        """The first argument that no longer holds what was put there, although the task does not allow it."""
        names = [tensor.name for spec in call.arguments for tensor in flatten(spec)]
        for number, content in enumerate(call.contents):
            same = ran.contents.get(number, content) == content
            if not same and (call.entry == "backward" or number not in self.mutable):
                return names[number]
        return None

    @property
    def mutable(self) -> frozenset[int]:
        """Positions of the tensors that the task lets a candidate change."""
        if self.task.direction is Direction.BACKWARD:
            return frozenset()
        specs = forward_arguments(self.task, self.draw.case)
        owners = [spec.name for spec in specs for _ in flatten(spec)]
        return frozenset(number for number, name in enumerate(owners) if name in self.task.mutates)

    def _mutated(self, ran: Ran, number: int) -> Tensor | None:
        specs = [tensor for spec in forward_arguments(self.task, self.draw.case) for tensor in flatten(spec)]
        spec, content = specs[number], ran.contents.get(number)
        return None if content is None else from_bytes(content, spec.dtype, spec.shape, spec.stride)


def staged(task: Task, draw: Draw) -> Stage:
    return Stage(task=task, draw=draw, given=scenario(task, draw))


def _call(entry: str, specs: tuple[Spec, ...], contents: Sequence[bytes], trial: Trial) -> Call:
    return Call(
        entry=entry,
        arguments=specs,
        contents=tuple(contents),
        order=trial.order,
        seed=trial.draw.seed + 1,
        shifted=trial.shifted,
        blocks=trial.blocks,
        again=trial.again,
    )


def _handed_on(name: str, view: View) -> TensorSpec:
    return TensorSpec(name=name, shape=view.shape, stride=view.stride, dtype=view.dtype)


def _views(report: Report | None) -> list[View]:
    return [view for view in report.trace.returns if isinstance(view, View)] if report else []


def _tensor(ran: Ran, view: View) -> Tensor | None:
    content = ran.contents.get(view.buffer)
    return None if content is None else from_bytes(content, view.dtype, view.shape, view.stride, view.offset)


def _mask(ran: Ran, view: View) -> Tensor | None:
    """Element by element, whether it was written; None where every block ran."""
    size = dtype_named(view.dtype).bytes
    written = ran.written.get(view.buffer)
    stride = tuple(size * step for step in view.stride)
    return None if written is None else from_bytes(written, "bool", view.shape, stride, view.offset)
