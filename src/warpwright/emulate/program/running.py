"""Runs an emulated program in the sandbox and reads its reports and outputs. The sandbox contains no expected
values."""

from __future__ import annotations

import os
from collections.abc import Callable, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, field, replace
from itertools import accumulate, takewhile
from pathlib import Path
from typing import TypeVar

from warpwright.core.errors import OurFault
from warpwright.core.gpus.table import Gpu
from warpwright.core.launch.plan import Library
from warpwright.core.records.evidence import Fault
from warpwright.emulate import report
from warpwright.emulate.program.calls import EmulatedCall, Supplied, output_name, request
from warpwright.emulate.report import Report
from warpwright.sandbox import run as sandbox
from warpwright.seal.cache import Store
from warpwright.seal.capture.trace import BadTrace

NUMBER_BYTES = 32
"""The size of a number of a lifted program: a double, four residues, a flag and padding."""
_OUTPUT_LIMIT = 1 << 30
_TRACE_LIMIT = 64 << 20
_MOST_LIBRARY_CALLS = 64
"""The limit on library operations of one call: each needs another run."""
_MOST_ARENAS = 8
"""The number of arenas to try for the device memory; about one in twenty overlaps the process's own memory."""
LIMITS = sandbox.Limits(cpu_s=180.0, wall_s=1200.0, memory_bytes=64 << 30, processes=64, file_bytes=1 << 30)


@dataclass(frozen=True, slots=True, kw_only=True)
class Ran:
    """The outcome of one call: the report and the final contents of buffers, or the way in which the process ended."""

    report: Report | None
    contents: Mapping[int, bytes]
    ended: sandbox.Finished
    operands: tuple[bytes | None, ...] = ()
    """The operands of the library operation at which the run ended."""
    written: Mapping[int, bytes] = field(default_factory=dict)
    """For sampled runs: one byte for each byte of a buffer, which tells whether it was written."""
    numbers: Mapping[int, bytes] = field(default_factory=dict)
    """For lifted programs: the numbers of a buffer, one for each element."""


Result = TypeVar("Result")
Librarian = Callable[[Library, Sequence[bytes | None]], bytes]
"""Executes a torch operation on the contiguous elements of its operands; returns those of its outputs."""


def run(
    program: Path, calls: Sequence[EmulatedCall], gpu: Gpu, store: Store, library: Librarian | None = None
) -> list[Ran]:
    """Runs every call, in order. A call that ends at a torch operation is repeated with the operation's result."""
    asked, ran = list(calls), _run(program, calls, gpu, store)
    for _ in range(_MOST_LIBRARY_CALLS if library else 0):
        waiting = [number for number, one in enumerate(ran) if one.report and one.report.awaits]
        if not waiting or library is None:
            break
        for number in waiting:
            asked[number] = _supplied(asked[number], ran[number], library)
        for number, one in zip(waiting, _run(program, [asked[n] for n in waiting], gpu, store), strict=True):
            ran[number] = one
    return ran


def _supplied(call: EmulatedCall, ran: Ran, library: Librarian) -> EmulatedCall:
    assert ran.report is not None
    assert ran.report.awaits is not None
    awaited = ran.report.awaits
    node = ran.report.trace.nodes[awaited.node] if 0 <= awaited.node < len(ran.report.trace.nodes) else None
    if not isinstance(node, Library) or awaited.node in {item.node for item in call.library}:
        raise BadTrace("the emulated program waits for an operation that its trace does not have")
    return replace(call, library=(*call.library, Supplied(node=awaited.node, data=library(node, ran.operands))))


def _run(program: Path, calls: Sequence[EmulatedCall], gpu: Gpu, store: Store) -> list[Ran]:
    """Runs the calls in as many processes as there are cores."""
    if not calls:
        return []
    parts = min(len(calls), os.cpu_count() or 1)
    shares = [list(calls[part::parts]) for part in range(parts)]
    with ThreadPoolExecutor(parts) as pool:
        answers = list(pool.map(lambda share: _process(program, share, gpu, store), shares))
    return [answers[number % parts][number // parts] for number in range(len(calls))]


def _process(program: Path, calls: Sequence[EmulatedCall], gpu: Gpu, store: Store) -> list[Ran]:
    """Runs calls in one process, in order; after a crash the remaining calls go to a new process."""
    ran: list[Ran] = []
    while len(ran) < len(calls):
        ran += _placed(program, calls[len(ran) :], gpu, store)
        if ran[-1].report is None and ran[-1].ended.reason is not None:
            # It exceeded a limit, and the remaining calls may do so too, so they are not tried.
            ran += [ran[-1]] * (len(calls) - len(ran))
    return ran


def in_free_arena(attempt: Callable[[int], list[Result]]) -> list[Result]:
    """The results of the first attempt that has any: one whose arena overlaps the process's own memory has none."""
    for number in range(_MOST_ARENAS):
        if results := attempt(number):
            return results
    raise OurFault(Fault(where="emulate", message="no room in the address space for the memory of a GPU"))


def _placed(program: Path, calls: Sequence[EmulatedCall], gpu: Gpu, store: Store) -> list[Ran]:
    return in_free_arena(lambda number: list(takewhile(_had_room, _attempt(program, calls, gpu, store, number))))


def _had_room(ran: Ran) -> bool:
    return ran.report is None or not ran.report.lacks_room


def _attempt(program: Path, calls: Sequence[EmulatedCall], gpu: Gpu, store: Store, attempt: int) -> list[Ran]:
    with store.staging() as folder:
        lines = [request(call, gpu, number, folder, attempt) for number, call in enumerate(calls)]
        answers, done = execute(program, lines, folder)
        upto = accumulate(2 if call.again else 1 for call in calls)
        reports = [report.read(answers[count - 1]) for count in upto if count <= len(answers)]
        ran = [_ran(found, folder / output_name(number), done) for number, found in enumerate(reports)]
    return ran if len(ran) == len(calls) else [*ran, Ran(report=None, contents={}, ended=done)]


def execute(
    program: Path, requests: Sequence[bytes], folder: Path, limits: sandbox.Limits = LIMITS
) -> tuple[list[bytes], sandbox.Finished]:
    """Runs one process on the requests, whose files lie in the folder; fewer answers mean that it died."""
    (folder / "requests").write_bytes(b"".join(requests))
    descriptor = os.memfd_create("report")
    try:
        command = [str(program), "requests", str(descriptor)]
        done = sandbox.run(command, readable=(program.parent,), writable=folder, limits=limits, pass_fds=(descriptor,))
        done.blame_machine("emulating")
        return os.pread(descriptor, _TRACE_LIMIT, 0).splitlines(), done
    finally:
        os.close(descriptor)


def _ran(found: Report, path: Path, done: sandbox.Finished) -> Ran:
    data = sandbox.harvest(path, _OUTPUT_LIMIT) or b""
    wanted = found.awaits.operands if found.awaits else ()
    operands = tuple(None if item is None else data[item.at : item.at + item.bytes] for item in wanted)
    starts = {item.buffer: (item.at, item.bytes) for item in found.contents}
    masks = {item.buffer: (item.written, item.bytes) for item in found.contents if item.written is not None}
    numbered = [(item.buffer, item.numbers) for item in found.contents if item.numbers is not None]
    numbers = {buffer: (place.at, place.count * NUMBER_BYTES) for buffer, place in numbered}
    return Ran(
        report=found,
        contents=_pieces(starts, data),
        ended=done,
        operands=operands,
        written=_pieces(masks, data),
        numbers=_pieces(numbers, data),
    )


def _pieces(places: Mapping[int, tuple[int, int]], data: bytes) -> dict[int, bytes]:
    """The pieces that are complete."""
    held = {number: data[at : at + size] for number, (at, size) in places.items() if at >= 0}
    return {number: content for number, content in held.items() if len(content) == places[number][1]}
