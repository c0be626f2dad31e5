"""Observes calls under several address spaces, processes and orders, to test whether host code is pure."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass

from warpwright.core.calls import EntryCall
from warpwright.core.gpus.table import Gpu
from warpwright.core.signature import Spec
from warpwright.sandbox.run import Finished
from warpwright.seal.capture.calls import entries_request, request
from warpwright.seal.capture.traced import Trace, TracedLaunch
from warpwright.seal.plans.building import difference, without_setup
from warpwright.seal.refusal import Refused, refuted, undecided

Runner = Callable[[Sequence[bytes]], tuple[list[Trace], Finished]]
"""Sends several requests to one new process."""


@dataclass(frozen=True, slots=True, kw_only=True)
class HostCall:
    """A call of an entry point's host code, on tensors without contents."""

    step: EntryCall
    case: str
    arguments: tuple[Spec, ...]


@dataclass(frozen=True, slots=True, kw_only=True)
class Observer:
    ask: Runner
    gpu: Gpu
    kernels: tuple[Mapping[str, int], ...] = ()
    """The assembler's resource figures of kernels, by code position, for occupancy queries."""

    def observe(self, calls: Sequence[HostCall]) -> list[tuple[Trace, ...]]:
        """The traces of each call, which agree with each other; the first is that of a first call.

        Two processes make the calls in opposite orders. One repeats them at other addresses, the other at the same
        addresses, which exposes host code that remembers addresses.
        """
        backwards = list(reversed(calls))
        with ThreadPoolExecutor(2) as pool:
            one = pool.submit(self._process, [(call, 0) for call in calls] + [(call, 2) for call in calls])
            other = pool.submit(self._process, [(call, 1) for call in backwards] + [(call, 1) for call in calls])
            first, second = one.result(), other.result()
        count = len(calls)
        columns = (first[:count], second[:count][::-1], first[count:], second[count:])
        return [
            self._settled(call, seen, len(calls)) for call, seen in zip(calls, zip(*columns, strict=True), strict=True)
        ]

    def _settled(self, call: HostCall, seen: tuple[Trace, ...], rounds: int) -> tuple[Trace, ...]:
        """The traces if all agree. Otherwise the call is repeated alone in new processes, more often than before.

        Host code that counts its calls, and changed within the number of calls seen, changes there too.
        """
        first, *others, repeated = seen
        if all(difference(first, other) is None for other in (*others, repeated)):
            return (first, *others)
        fresh, *later = self._process([(call, 0), *[(call, 0), (call, 2)] * rounds])
        (other,) = self._process([(call, 1)])
        reasons = [difference(without_setup(fresh), without_setup(again)) for again in later]
        if reason := next(filter(None, (difference(fresh, other), *reasons)), None):
            raise refuted("stateful-host-code", f"the host code keeps state: {reason}", case=call.case)
        return fresh, other

    def entries(self) -> tuple[str, ...]:
        """Every entry point that the program binds; empty if the request fails."""
        traces, _ = self.ask([entries_request(self.gpu)])
        return traces[0].entries if traces else ()

    def _process(self, asked: Sequence[tuple[HostCall, int]]) -> list[Trace]:
        lines = [request(call.step.entry, call.arguments, self.gpu, space, self.kernels) for call, space in asked]
        traces, done = self.ask(lines)
        for trace, (call, _) in zip(traces, asked, strict=False):
            if trace.outcome != "captured":
                raise failure(trace, call.step.entry, call.case)
        if len(traces) < len(asked):
            raise _death(done, asked[len(traces)][0])
        return traces


def failure(trace: Trace, entry: str, case: str) -> Refused:
    """The refusal for host code that did not end normally."""
    match trace.outcome:
        case "unsupported":
            return undecided(f"unsupported: {trace.what}")
        case "reads_device_data":
            message = f"host code reads device data ({trace.what}), so no launch plan can replace it"
            return refuted("reads-device-data", message, case=case)
        case "error" if trace.what == "entry":
            return refuted("entry", f"the source does not export '{entry}': {trace.message}", case=case)
        case "error":
            what = _ERRORS.get(trace.what, "fails")
            return refuted(trace.what or "error", f"{entry} {what}: {trace.message}", case=case)
    return refuted("trace", f"the capture program reported '{trace.outcome:.40}'", case=case)


_ERRORS = {
    "check": "rejects the arguments of this case",
    "cuda": "makes a CUDA call that fails",
    "exception": "throws",
    "arguments": "does not take the task's arguments",
    "binding": "cannot be reached, its module fails to initialise",
}


def _death(done: Finished, call: HostCall) -> Refused:
    facts = {"signal": done.signal, "returncode": done.returncode, "limit": done.reason}
    if done.reason is not None:
        done.blame_machine("recording host code")
        return refuted("host-limit", f"host code {done.excess}", case=call.case, facts=facts)
    if done.signal is not None:
        return refuted("host-crash", f"host code died of signal {done.signal}", case=call.case, facts=facts)
    message = f"host code ended the process with status {done.returncode}"
    return refuted("host-exit", message, case=call.case, facts=facts)


def codes(traces: Iterable[Trace]) -> set[int]:
    """Every code position in the traces."""
    found: set[int] = set()
    for trace in traces:
        found |= {node.code for node in trace.nodes if isinstance(node, TracedLaunch)}
        found |= {attribute.code for attribute in trace.attributes}
        found |= {query.code for query in trace.queries}
        found |= {buffer.symbol for buffer in trace.buffers if buffer.symbol is not None}
    return found
