"""Turns a draw of a task into calls of a program, and their outputs into tensors for the oracle."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from warpwright.core.calls import EntryCall, HandedOver, argument_specs, bound, entry_calls
from warpwright.core.dtypes import dtype_named
from warpwright.core.launch.plan import View
from warpwright.core.signature import TensorSpec, flatten
from warpwright.core.task import Draw, Task
from warpwright.emulate.program.calls import EmulatedCall, Order
from warpwright.emulate.program.running import Ran
from warpwright.oracle.inputs.storage import Tensor, from_bytes, to_bytes
from warpwright.oracle.truth.expected import Scenario, scenario
from warpwright.oracle.truth.reference import Tensors, tensors_in

if TYPE_CHECKING:
    from warpwright.emulate.report import Report


@dataclass(frozen=True, slots=True, kw_only=True)
class Trial:
    """A draw, and the way to run it."""

    draw: Draw
    order: Order = Order.FORWARD
    shifted: bool = False
    blocks: int | None = None
    """The largest number of blocks of each launch to run; all if None."""
    again: bool = False
    """Whether the call is made twice in a row, to find kernels that keep state."""

    @property
    def label(self) -> str:
        how = ", shifted by one element" if self.shifted else ", asked again" if self.again else ""
        return self.draw.case.name + how


@dataclass(frozen=True, slots=True, kw_only=True)
class Execution:
    """One call of a trial and its outcome."""

    step: EntryCall
    call: EmulatedCall
    ran: Ran

    @property
    def returned(self) -> list[View]:
        """The returned device tensors."""
        return _views(self.ran.report)


@dataclass(frozen=True, slots=True, kw_only=True)
class Stage:
    """A draw with its inputs."""

    task: Task
    draw: Draw
    given: Scenario

    def steps(self, *, prepared: bool = False) -> tuple[EntryCall, ...]:
        """The calls of one trial, in order; `prepared` if the candidate has that entry."""
        return entry_calls(self.task, self.draw.case, prepared=prepared)

    def call(self, step: EntryCall, trial: Trial, earlier: Sequence[Execution] = ()) -> EmulatedCall | None:
        """The call with its input bytes; None if tensors from an earlier call are missing."""
        handed = {done.step.entry: _handed_over(done) for done in earlier}
        needed = [handed.get(item.entry) for item in step.arguments if isinstance(item, HandedOver)]
        if any(found is None for found in needed):
            return None
        specs = {entry: [spec for spec, _ in found or ()] for entry, found in handed.items()}
        contents = {entry: [content for _, content in found or ()] for entry, found in handed.items()}
        return EmulatedCall(
            entry=step.entry,
            arguments=argument_specs(self.task, self.draw.case, step, specs),
            contents=tuple(_bytes_in(bound(step, self.given, contents))),
            order=trial.order,
            seed=trial.draw.seed + 1,
            shifted=trial.shifted,
            # Tensors for a later call are computed completely, even if that call is sampled.
            blocks=None if step.hands_over else trial.blocks,
            again=trial.again,
        )

    def results(self, executions: Sequence[Execution]) -> Tensors | None:
        """The results to compare, in the order of the oracle; None if bytes are missing."""
        found: list[Tensor | None] = []
        for done in executions:
            found += [_tensor(done.ran, view) for view in done.step.required(done.returned)]
            found += [_argument(done, position) for position in done.step.mutates]
        return None if any(tensor is None for tensor in found) else [tensor for tensor in found if tensor is not None]

    def only_written(self, ran: Ran, values: Tensors, truth: Sequence[Tensor]) -> Tensors:
        """Replaces elements of skipped blocks by the truth."""
        views = _views(ran.report)
        masks = [_mask(ran, view) for view in views]
        pairs = zip(values, masks, truth, strict=False)
        return [value if mask is None else value.where(mask, right.to(value.dtype)) for value, mask, right in pairs]


def changed(done: Execution) -> str | None:
    """The name of the first argument that was changed, although the task does not allow it."""
    names = [tensor.name for spec in done.call.arguments for tensor in flatten(spec)]
    for number, content in enumerate(done.call.contents):
        if number not in done.step.mutates and done.ran.contents.get(number, content) != content:
            return names[number]
    return None


def staged(task: Task, draw: Draw) -> Stage:
    return Stage(task=task, draw=draw, given=scenario(task, draw))


def _handed_over(done: Execution) -> list[tuple[TensorSpec, bytes]] | None:
    """The tensors that a call returned for a later one, with their bytes; None if bytes are missing."""
    found = []
    for number, view in enumerate(done.step.handed_over(done.returned)):
        content = done.ran.contents.get(view.buffer)
        if content is None:
            return None
        name = f"{done.step.hands_over}_{number}"
        spec = TensorSpec(name=name, shape=view.shape, stride=view.stride, dtype=view.dtype)
        found.append((spec, content[view.offset :]))
    return found


def _bytes_in(values: Sequence[Any]) -> Iterator[bytes]:
    """Yields the bytes of every tensor, in order; results of an earlier call are bytes already."""
    for value in values:
        yield from [value] if isinstance(value, bytes) else map(to_bytes, tensors_in(value))


def _argument(done: Execution, position: int) -> Tensor | None:
    """A tensor argument of a call after the call."""
    spec = [tensor for spec in done.call.arguments for tensor in flatten(spec)][position]
    content = done.ran.contents.get(position)
    return None if content is None else from_bytes(content, spec.dtype, spec.shape, spec.stride)


def _views(report: Report | None) -> list[View]:
    return [view for view in report.trace.returns if isinstance(view, View)] if report else []


def _tensor(ran: Ran, view: View) -> Tensor | None:
    content = ran.contents.get(view.buffer)
    return None if content is None else from_bytes(content, view.dtype, view.shape, view.stride, view.offset)


def _mask(ran: Ran, view: View) -> Tensor | None:
    """Whether each element was written; None if every block ran."""
    size = dtype_named(view.dtype).bytes
    written = ran.written.get(view.buffer)
    stride = tuple(size * step for step in view.stride)
    return None if written is None else from_bytes(written, "bool", view.shape, stride, view.offset)
