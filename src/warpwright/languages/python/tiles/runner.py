"""The calls of an examination: each is recorded for its sizes, then carried out."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any

from warpwright.core.calls import argument_specs, entry_calls
from warpwright.core.candidate import Candidate
from warpwright.core.codec import dumps
from warpwright.core.errors import Undecided
from warpwright.core.launch.plan import Triple, View
from warpwright.core.signature import TensorSpec, flatten
from warpwright.core.task import Case, Task
from warpwright.emulate.program.calls import EmulatedCall
from warpwright.emulate.program.running import Ran
from warpwright.emulate.report import Report
from warpwright.languages.python import pipeline
from warpwright.languages.python.record import Allocate, Answer, CompiledKernel, Record
from warpwright.languages.python.recording.observing import Observed, Observer
from warpwright.languages.python.tiles.memory import Librarian
from warpwright.languages.python.tiles.running import Carried
from warpwright.sandbox.run import Finished
from warpwright.seal.cache import Store
from warpwright.seal.capture.calls import storage_bytes
from warpwright.seal.capture.traced import Trace, TracedBuffer, TracedLaunch
from warpwright.seal.refusal import Refused

_ENDED = Finished(returncode=0, signal=None, stdout=b"", stderr=b"", seconds=0.0, reason=None)


@dataclass(slots=True, kw_only=True)
class TileRunner:
    """Runs Python candidates whose kernels are in Triton.

    Storage is never shifted, since Triton would compile anew, and cases of which a sample is asked for run whole.
    """

    observer: Observer
    kernels: dict[str, CompiledKernel]
    library: Librarian | None
    known: dict[str, Answer] = field(default_factory=dict)
    """What calls did, by their arguments."""

    def run(self, calls: Sequence[EmulatedCall]) -> list[Ran]:
        self._record(calls)
        return [self._ran(call, self.known.get(key_of(call.arguments))) for call in calls]

    def lines(self, codes: Iterable[int]) -> Mapping[int, int]:
        """Reports have lines already."""
        return {}

    def _record(self, calls: Sequence[EmulatedCall]) -> None:
        mine = [call for call in calls if call.entry == self.observer.step.entry]
        missing = {key_of(call.arguments): call.arguments for call in mine}
        missing = {key: specs for key, specs in missing.items() if key not in self.known}
        if missing:
            ran = self.observer.once(list(missing.values()))
            self.known.update(zip(missing, ran.answers, strict=False))
            self.kernels.update(ran.kernels)

    def _ran(self, call: EmulatedCall, answer: Answer | None) -> Ran:
        if call.entry != self.observer.step.entry:
            return _said(call, "error", "entry", f"there is no {call.entry}")
        if answer is None:
            return _said(call, "error", "host-exit", "the process ended before this call")
        if answer.record is None:
            return _said(call, answer.outcome, answer.what, answer.message)
        carried = Carried(call, answer.record, self.kernels, self.library)
        try:
            carried.out()
        except Undecided as gap:
            return Ran(report=_report(_trace(call, answer.record), str(gap)), contents={}, ended=_ENDED)
        except Refused as refused:
            if not refused.is_undecided:
                raise
            return Ran(report=_report(_trace(call, answer.record), str(refused)), contents={}, ended=_ENDED)
        trace = replace(_trace(call, answer.record), nodes=tuple(_tiles(carried)))
        report = replace(_report(trace), findings=tuple(carried.found))
        return Ran(report=report, contents=carried.contents(), ended=_ENDED)


def tile_runner(
    task: Task, candidate: Candidate, cases: Sequence[Case], found: Observed, store: Store, library: Librarian | None
) -> TileRunner:
    """A runner that knows what was observed already."""
    step = entry_calls(task, cases[0])[0]
    records = {key_of(argument_specs(task, case, step)): found.records[case.name] for case in cases}
    return TileRunner(
        observer=pipeline.observer(task, candidate, cases[0], store),
        kernels=dict(found.kernels),
        library=library,
        known={key: Answer(outcome="captured", record=record) for key, record in records.items()},
    )


def key_of(arguments: Sequence[Any]) -> str:
    """Equal for arguments of equal forms and values."""
    return dumps(tuple(arguments))


def _said(call: EmulatedCall, outcome: str, what: str, message: str) -> Ran:
    """A call that host code ended."""
    trace = Trace(outcome=outcome, what=what, message=message)
    return Ran(report=Report(trace=trace, outcome="skipped"), contents={}, ended=_ENDED)


def _report(trace: Trace, gap: str = "") -> Report:
    missing = gap.removeprefix("unsupported: ")
    return Report(trace=trace, outcome="unsupported" if gap else "ran", what=missing)


def _trace(call: EmulatedCall, record: Record) -> Trace:
    tensors = [tensor for spec in call.arguments for tensor in flatten(spec)]
    buffers = [TracedBuffer(base=0, bytes=storage_bytes(tensor), origin="argument") for tensor in tensors]
    buffers += [_allocated(step) for step in record.steps if isinstance(step, Allocate)]
    return Trace(
        outcome="captured",
        buffers=tuple(buffers),
        arguments=tuple(_whole(number, tensor) for number, tensor in enumerate(tensors)),
        returns=record.returns,
    )


def _allocated(step: Allocate) -> TracedBuffer:
    spec = TensorSpec(name="", shape=step.shape, stride=step.stride, dtype=step.dtype)
    return TracedBuffer(base=0, bytes=storage_bytes(spec), origin="scratch")


def _whole(number: int, tensor: TensorSpec) -> View:
    return View(buffer=number, offset=0, shape=tensor.shape, stride=tensor.stride, dtype=tensor.dtype)


def _tiles(carried: Carried) -> Iterable[TracedLaunch]:
    """Launches with the sizes of their tiles in place of their threads: tiles divide the work."""
    from warpwright.ttir.plain import tile_sizes

    for step, module in carried.launches:
        for size in tile_sizes(module):
            yield TracedLaunch(code=0, grid=step.grid, block=_side(size))


def _side(size: int) -> Triple:
    return (size, 1, 1)
