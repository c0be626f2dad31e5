"""Seals one candidate: builds device and host code in parallel, observes, binds, plans and checks."""

from __future__ import annotations

import time
from collections.abc import Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from dataclasses import dataclass, field, replace
from pathlib import Path
from tempfile import mkdtemp

from warpwright import __version__
from warpwright.core.calls import PREPARE, EntryCall, argument_specs, entry_calls, may_prepare
from warpwright.core.candidate import Candidate
from warpwright.core.gpus.table import gpu_named
from warpwright.core.launch.plan import Plan
from warpwright.core.launch.sealed import Manifest, Sealed
from warpwright.core.task import Case, Task
from warpwright.sandbox import run as sandbox
from warpwright.seal import toolchain
from warpwright.seal.cache import Store
from warpwright.seal.capture import program as capture
from warpwright.seal.capture.observe import HostCall, Observer, codes
from warpwright.seal.capture.trace import BadTrace
from warpwright.seal.capture.traced import Trace
from warpwright.seal.device import nvcc as device
from warpwright.seal.device.nvcc import DeviceCode
from warpwright.seal.hostlink import linking as hostlink
from warpwright.seal.plans.binding import Binding, bind
from warpwright.seal.plans.building import make_plan
from warpwright.seal.plans.expectations import check_given, check_launches, check_returns, check_types, handed_over
from warpwright.seal.refusal import Refused, refuted, undecided

BY_NVCC = "host by nvcc"
Seen = list[tuple[HostCall, tuple[Trace, ...]]]


@dataclass(slots=True, kw_only=True)
class SealJob:
    task: Task
    candidate: Candidate
    cases: Sequence[Case]
    store: Store
    folder: Path
    seconds: dict[str, float] = field(default_factory=dict)
    prepares: bool = False
    """Whether the candidate exports a `prepare` that the task allows."""

    def sealed(self, key: str) -> Sealed:
        with self._timed("total"):
            compiled, program, entries, seen = self._compile_and_capture()
            seen, binding = self._bound(compiled, program, seen)
            plans = self._planned(seen, binding, compiled is not None)
        return Sealed(
            id=key,
            source=self.candidate.source,
            manifest=self._manifest(),
            entries=entries,
            cubin=compiled.cubin if compiled else None,
            kernels=binding.kernels,
            variables=binding.variables,
            plans=plans,
        )

    @contextmanager
    def _timed(self, step: str) -> Iterator[None]:
        start = time.monotonic()
        yield
        self.seconds[step] = time.monotonic() - start

    def _place(self, name: str) -> Path:
        """Creates a separate folder for a tool, with the source in it."""
        place = self.folder / name
        place.mkdir()
        (place / "kernel.cu").write_bytes(self.candidate.source.encode("utf-8", "surrogateescape"))
        return place

    def _compile_and_capture(self) -> tuple[DeviceCode | None, capture.Program, tuple[str, ...], Seen]:
        """Builds device and host code in parallel. A source that nvcc refuses is wrong, not unsupported."""
        with ThreadPoolExecutor(2) as pool:
            compiling = pool.submit(self._compile_device)
            building = pool.submit(self._build)
            observing = pool.submit(lambda: self._observe(building.result()))
        compiled = compiling.result()
        gap = observing.exception()
        if compiled and isinstance(gap, Refused) and gap.is_undecided and (building.exception() or gap.is_of_toolkit):
            return (compiled, *self._observe(self._built_by_nvcc(compiled, gap)))
        return (compiled, *observing.result())

    def _built_by_nvcc(self, compiled: DeviceCode, gap: Refused) -> capture.Program:
        """Builds by nvcc's host code a source that the front cannot build; if that fails too, the front's reason
        holds."""
        try:
            with self._timed(BY_NVCC):
                return hostlink.build(self._place("by-nvcc"), self.candidate.flags, compiled.kernels, self.store)
        except Refused:
            raise gap from None

    def _compile_device(self) -> DeviceCode | None:
        with self._timed("device"):
            return device.compile_device(self._place("device"), self.candidate.flags, self.store)

    def _build(self) -> capture.Program:
        with self._timed("host"):
            defines = [flag for flag in self.candidate.flags.extra if flag.startswith(("-D", "-U"))]
            return capture.build(self._place("host"), defines, self.store)

    def _observe(self, program: capture.Program) -> tuple[capture.Program, tuple[str, ...], Seen]:
        observer = self._observer(program)
        with self._timed("capture"), ThreadPoolExecutor(1) as pool:
            listing = pool.submit(observer.entries)
            self.prepares = may_prepare(self.task) and PREPARE in listing.result()
            seen = self._calls(observer)
            return program, listing.result(), seen

    def _observer(self, program: capture.Program) -> Observer:
        return Observer(ask=lambda lines: self._ask(program, lines), gpu=gpu_named(self.candidate.flags.gpu))

    def _ask(self, program: capture.Program, lines: Sequence[bytes]) -> tuple[list[Trace], sandbox.Finished]:
        try:
            return capture.run(program, lines, Path(mkdtemp(dir=self.folder)))
        except BadTrace as bad:
            raise refuted("trace", str(bad)) from None

    def _bound(self, compiled: DeviceCode | None, program: capture.Program, seen: Seen) -> tuple[Seen, Binding]:
        """Traces and names. Host code that queries occupancy is observed again with the assembler's resource
        figures."""
        binding = self._names(seen, program, compiled)
        if compiled and any(not query.known for _, traces in seen for query in traces[0].queries):
            seen = self._calls(replace(self._observer(program), kernels=binding.resources()))
            binding = self._names(seen, program, compiled)
        return seen, binding

    def _names(self, seen: Seen, program: capture.Program, compiled: DeviceCode | None) -> Binding:
        spoken_of = codes(trace for _, traces in seen for trace in traces)
        return bind(program, spoken_of, compiled, Path(mkdtemp(dir=self.folder)))

    def _calls(self, observer: Observer) -> Seen:
        """Observes every case, entry by entry: results of one entry's calls may be arguments of the next."""
        if self.prepares and self.task.mutates:
            raise undecided("unsupported: prepare, in a task that changes its arguments")
        by_entry = zip(*(entry_calls(self.task, case, prepared=self.prepares) for case in self.cases), strict=True)
        seen: Seen = []
        for steps in by_entry:
            calls = [self._call(case, step, seen) for case, step in zip(self.cases, steps, strict=True)]
            seen += zip(calls, observer.observe(calls), strict=True)
        return seen

    def _call(self, case: Case, step: EntryCall, seen: Seen) -> HostCall:
        before = [(call, traces[0]) for call, traces in seen if call.case == case.name]
        returned = {call.step.entry: handed_over(call.step, trace.returns, case.name) for call, trace in before}
        return HostCall(step=step, case=case.name, arguments=argument_specs(self.task, case, step, returned))

    def _planned(self, seen: Seen, binding: Binding, compiled: bool) -> tuple[Plan, ...]:
        kernels = {kernel.name: kernel for kernel in binding.kernels} if compiled else None
        plans = []
        for call, traces in seen:
            plan = self._plan(call, traces, binding)
            check_given(plan, call.arguments)
            check_types(plan)
            check_launches(plan, kernels, gpu_named(self.candidate.flags.gpu))
            check_returns(plan, call.step)
            plans.append(plan)
        return tuple(plans)

    def _plan(self, call: HostCall, traces: tuple[Trace, ...], binding: Binding) -> Plan:
        try:
            return make_plan(call.step.entry, call.case, traces, binding.name_of)
        except Refused:
            if BY_NVCC not in self.seconds:
                raise
            # Padding bytes of a struct have arbitrary contents in nvcc's own code.
            raise undecided(
                "unsupported: arguments that differ from call to call, captured by nvcc's own code"
            ) from None

    def _manifest(self) -> Manifest:
        flags = self.candidate.flags
        compilers = {"g++": toolchain.version(toolchain.host_compiler())}
        if nvcc := toolchain.nvcc():
            compilers["nvcc"] = toolchain.version(nvcc)
        return Manifest(
            candidate=self.candidate.id,
            task=self.task.key,
            gpu=gpu_named(flags.gpu).name,
            arch=gpu_named(flags.gpu).arch,
            flags=flags,
            compilers=compilers,
            command=("nvcc", "-cubin", *device.arguments(flags)),
            hashes={},
            seconds=dict(self.seconds),
            isolation=sandbox.isolation().mode,
            warpwright=__version__,
        )
