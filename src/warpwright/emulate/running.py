"""Running an emulated program in the sandbox: calls in, reports and bytes out. No expected value is ever in there."""

from __future__ import annotations

import os
from collections.abc import Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from pathlib import Path

from warpwright.core.gpus import Gpu
from warpwright.core.plan import View
from warpwright.emulate import report
from warpwright.emulate.calls import Call, output_name, request
from warpwright.emulate.report import Report
from warpwright.seal import sandbox
from warpwright.seal.cache import Store

_OUTPUT_LIMIT = 1 << 30
_TRACE_LIMIT = 64 << 20
LIMITS = sandbox.Limits(cpu_s=180.0, wall_s=180.0, memory_bytes=64 << 30, processes=64, file_bytes=1 << 30)


@dataclass(frozen=True, slots=True, kw_only=True)
class Ran:
    """One call as it went: what was reported and what the buffers held afterwards; or how the process ended."""

    report: Report | None
    contents: Mapping[int, bytes]
    ended: sandbox.Finished

    def bytes_of(self, view: View) -> bytes | None:
        return self.contents.get(view.buffer)


def run(program: Path, calls: Sequence[Call], gpu: Gpu, store: Store) -> list[Ran]:
    """Every call, in its order, spread over as many processes as there are cores."""
    if not calls:
        return []
    parts = min(len(calls), os.cpu_count() or 1)
    shares = [list(calls[part::parts]) for part in range(parts)]
    with ThreadPoolExecutor(parts) as pool:
        answers = list(pool.map(lambda share: _process(program, share, gpu, store), shares))
    return [answers[number % parts][number // parts] for number in range(len(calls))]


def _process(program: Path, calls: Sequence[Call], gpu: Gpu, store: Store) -> list[Ran]:
    """One process that answers its calls in order. What follows a call that killed it is asked of a fresh one."""
    ran: list[Ran] = []
    while len(ran) < len(calls):
        ran += _attempt(program, calls[len(ran) :], gpu, store)
        if ran[-1].report is None and ran[-1].ended.reason is not None:
            # It went beyond a limit, and the rest may do so too: we wait for that only once.
            ran += [ran[-1]] * (len(calls) - len(ran))
    return ran


def _attempt(program: Path, calls: Sequence[Call], gpu: Gpu, store: Store) -> list[Ran]:
    with store.staging() as folder:
        lines = [request(call, gpu, number, folder) for number, call in enumerate(calls)]
        (folder / "requests").write_bytes(b"".join(lines))
        written, done = _execute(program, folder)
        reports = [report.read(line) for line in written.splitlines()[: len(calls)]]
        ran = [
            Ran(report=found, contents=_contents(found, folder / output_name(number)), ended=done)
            for number, found in enumerate(reports)
        ]
    return ran if len(ran) == len(calls) else [*ran, Ran(report=None, contents={}, ended=done)]


def _execute(program: Path, folder: Path) -> tuple[bytes, sandbox.Finished]:
    descriptor = os.memfd_create("report")
    try:
        command = [str(program), "requests", str(descriptor)]
        done = sandbox.run(command, readable=(program.parent,), writable=folder, limits=LIMITS, pass_fds=(descriptor,))
        return os.pread(descriptor, _TRACE_LIMIT, 0), done
    finally:
        os.close(descriptor)


def _contents(found: Report, path: Path) -> dict[int, bytes]:
    data = sandbox.harvest(path, _OUTPUT_LIMIT) or b""
    held = {item.buffer: data[item.at : item.at + item.bytes] for item in found.contents if item.at >= 0}
    sizes = {item.buffer: item.bytes for item in found.contents}
    return {number: content for number, content in held.items() if len(content) == sizes[number]}
