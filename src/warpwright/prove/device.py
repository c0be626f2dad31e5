"""Runs a lifted program on the inputs of a draw and reads its results as lifted tensors."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import torch

from warpwright.core.calls import EntryCall, HandedOver, argument_specs, bound, entry_calls, may_prepare
from warpwright.core.errors import Undecided
from warpwright.core.gpus.table import Gpu
from warpwright.core.launch.plan import View
from warpwright.core.signature import Spec, TensorSpec, flatten
from warpwright.core.task import Draw, Task
from warpwright.emulate.program.calls import EmulatedCall
from warpwright.emulate.program.running import NUMBER_BYTES, Ran, run
from warpwright.oracle.inputs.storage import from_bytes, to_bytes
from warpwright.oracle.truth.expected import Scenario
from warpwright.oracle.truth.reference import Tensors, tensors_in
from warpwright.prove import numbers
from warpwright.prove.tensor import LiftedTensor
from warpwright.seal.cache import Store


@dataclass(frozen=True, slots=True)
class _Piece:
    """A tensor in device memory: its bytes, and the numbers that its elements stand for."""

    content: bytes
    numbers: bytes | None


@dataclass(frozen=True, slots=True, kw_only=True)
class Device:
    """A lifted program and what it needs to run."""

    program: Path
    gpu: Gpu
    store: Store
    task: Task

    def results(self, draw: Draw, given: Scenario, names: int = 0) -> Tensors:
        """All compared tensors. `names` is the seed of the names of numbers, on which no result may depend."""
        if may_prepare(self.task):
            prepared = self._results(draw, given, names, prepared=True)
            if prepared is not None:
                return prepared
        found = self._results(draw, given, names, prepared=False)
        if found is None:
            raise Undecided("unsupported: the program lacks an entry point")
        return found

    def _results(self, draw: Draw, given: Scenario, names: int, *, prepared: bool) -> Tensors | None:
        handed: dict[str, list[tuple[TensorSpec, _Piece]]] = {}
        found: Tensors = []
        for step in entry_calls(self.task, draw.case, prepared=prepared):
            call = self._call(draw, given, step, handed, names)
            (ran,) = run(self.program, [call], self.gpu, self.store)
            if _is_absent(ran):
                return None
            _require_end(ran)
            views = [view for view in ran.report.trace.returns if isinstance(view, View)] if ran.report else []
            if step.hands_over:
                handed[step.entry] = list(_handed_over(step, ran, views))
            if step.is_timed:
                found += [_tensor(ran, view) for view in step.required(views)]
                found += [_argument(ran, call, position) for position in step.mutates]
        return found

    def _call(
        self,
        draw: Draw,
        given: Scenario,
        step: EntryCall,
        handed: dict[str, list[tuple[TensorSpec, _Piece]]],
        names: int,
    ) -> EmulatedCall:
        needed = {item.entry for item in step.arguments if isinstance(item, HandedOver)}
        specs = {entry: [spec for spec, _ in handed[entry]] for entry in needed}
        pieces = {entry: [piece for _, piece in handed[entry]] for entry in needed}
        values = list(_pieces(bound(step, given, pieces), argument_specs(self.task, draw.case, step, specs)))
        return EmulatedCall(
            entry=step.entry,
            arguments=argument_specs(self.task, draw.case, step, specs),
            contents=tuple(piece.content for piece in values),
            numbers=tuple(piece.numbers for piece in values),
            seed=draw.seed + 1 + names,
        )


def _pieces(values: Sequence[Any], specs: Sequence[Spec]) -> Iterator[_Piece]:
    for value, spec in zip(values, specs, strict=True):
        if isinstance(value, _Piece):
            yield value
        elif flatten(spec):
            yield from map(_piece, tensors_in(value))


def _piece(tensor: torch.Tensor) -> _Piece:
    if not isinstance(tensor, LiftedTensor):
        return _Piece(to_bytes(tensor), None)
    held = tensor.places
    flat = torch.frombuffer(bytearray(to_bytes(held)), dtype=torch.int64) if held.numel() else held.reshape(-1)
    values = numbers.values(flat).to(tensor.dtype)
    return _Piece(to_bytes(values), numbers.get(flat).numpy().tobytes())


def _is_absent(ran: Ran) -> bool:
    return ran.report is not None and (ran.report.trace.outcome, ran.report.trace.what) == ("error", "entry")


def _require_end(ran: Ran) -> None:
    """A run in lifted numbers says something only if it came to its end; other rungs judge why it did not."""
    report = ran.report
    if report is None:
        raise Undecided(f"the lifted program {ran.ended.excess if ran.ended.reason else 'died'}")
    if report.trace.outcome != "captured":
        raise Undecided(f"the host code of the lifted program ends with {report.trace.outcome}: {report.trace.what}")
    if report.outcome != "ran":
        raise Undecided(f"{report.outcome}: {report.what}")


def _tensor(ran: Ran, view: View) -> torch.Tensor:
    content = ran.contents.get(view.buffer)
    found = None if content is None else from_bytes(content, view.dtype, view.shape, view.stride, view.offset)
    if found is None:
        raise Undecided("a returned tensor does not lie within its buffer")
    return _with_numbers(found, ran.numbers.get(view.buffer), view.offset)


def _with_numbers(tensor: torch.Tensor, rows: bytes | None, offset: int = 0) -> torch.Tensor:
    if not tensor.is_floating_point():
        return tensor
    if rows is None:
        raise Undecided(f"lifted numbers in {tensor.dtype}")
    flat = numbers.put(torch.frombuffer(bytearray(rows), dtype=torch.uint8).view(-1, NUMBER_BYTES))
    start = offset // tensor.element_size()
    return LiftedTensor(flat.as_strided(tensor.shape, tensor.stride(), start), tensor.dtype)


def _argument(ran: Ran, call: EmulatedCall, position: int) -> torch.Tensor:
    spec = [tensor for spec in call.arguments for tensor in flatten(spec)][position]
    found = from_bytes(ran.contents.get(position, b""), spec.dtype, spec.shape, spec.stride)
    if found is None:
        raise Undecided("an argument that the task changes is lost")
    return _with_numbers(found, ran.numbers.get(position))


def _handed_over(step: EntryCall, ran: Ran, views: Sequence[View]) -> Iterator[tuple[TensorSpec, _Piece]]:
    """The tensors that a call returned for a later one."""
    for number, view in enumerate(step.handed_over(views)):
        name = f"{step.hands_over}_{number}"
        spec = TensorSpec(name=name, shape=view.shape, stride=view.stride, dtype=view.dtype)
        yield spec, _piece(_tensor(ran, view))
