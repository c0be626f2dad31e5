"""Records become launch plans, beside the cubins that Python code compiled for the target."""

from __future__ import annotations

import time
from collections.abc import Iterator, Mapping, Sequence
from importlib.metadata import PackageNotFoundError, version

from warpwright import __version__
from warpwright.core.calls import EntryCall, argument_specs, entry_calls
from warpwright.core.candidate import Candidate
from warpwright.core.codec import content_id
from warpwright.core.gpus.table import gpu_named
from warpwright.core.launch.plan import Buffer, Fill, Kernel, Launch, Library, Node, Origin, Plan, Relocation, View
from warpwright.core.launch.sealed import Manifest, Sealed
from warpwright.core.signature import Spec, TensorSpec, flatten
from warpwright.core.task import Case, Task
from warpwright.languages.python.record import Allocate, CompiledKernel, KernelLaunch, Record, Step, Word
from warpwright.languages.python.recording.observing import Observed
from warpwright.sandbox.isolation import isolation
from warpwright.seal import artefact
from warpwright.seal.capture.calls import storage_bytes
from warpwright.seal.plans.building import touched
from warpwright.seal.plans.expectations import check_given, check_launches, check_returns, check_types
from warpwright.seal.refusal import refuted, undecided

_SHARED_BY_DEFAULT = 48 << 10
_ADDRESS = bytes(8)


def sealed(task: Task, candidate: Candidate, cases: Sequence[Case], found: Observed) -> Sealed:
    """The sealed form of a candidate whose own kernels are all compiled by its Python code. Raises Refused."""
    start = time.monotonic()
    kernels = {name: _kernel(name, number, made) for number, (name, made) in enumerate(sorted(found.kernels.items()))}
    plans = tuple(_checked(task, case, found.records[case.name], kernels, candidate) for case in cases)
    cubins = [found.kernels[name].cubin for name in kernels]
    return artefact.with_hashes(
        Sealed(
            id=content_id([candidate.id, task.key, plans, cubins]),
            source=candidate.source,
            manifest=_manifest(task, candidate, time.monotonic() - start),
            entries=tuple(dict.fromkeys(plan.entry for plan in plans)),
            cubin=cubins[0],
            modules=tuple(cubins[1:]),
            kernels=tuple(kernels.values()),
            plans=plans,
        )
    )


def _kernel(name: str, number: int, made: CompiledKernel) -> Kernel:
    return Kernel(name=name, symbol=made.name, parameters=made.parameters, module=number)


def _checked(task: Task, case: Case, record: Record, kernels: Mapping[str, Kernel], candidate: Candidate) -> Plan:
    step = entry_calls(task, case)[0]
    specs = argument_specs(task, case, step)
    plan = _plan(case, step, record, specs)
    check_given(plan, specs)
    check_types(plan)
    check_launches(plan, kernels, gpu_named(candidate.flags.gpu))
    check_returns(plan, step)
    return plan


def _plan(case: Case, step: EntryCall, record: Record, specs: Sequence[Spec]) -> Plan:
    tensors = [tensor for spec in specs for tensor in flatten(spec)]
    nodes = tuple(_nodes(record.steps))
    returned = {view.buffer for view in record.returns if isinstance(view, View)}
    return Plan(
        entry=step.entry,
        case=case.name,
        buffers=tuple(_buffers(tensors, record, nodes, returned)),
        arguments=tuple(_view(number, tensor) for number, tensor in enumerate(tensors)),
        nodes=nodes,
        returns=record.returns,
        attributes=_attributes(nodes),
    )


def _view(number: int, tensor: TensorSpec) -> View:
    return View(buffer=number, offset=0, shape=tensor.shape, stride=tensor.stride, dtype=tensor.dtype)


def _buffers(
    tensors: Sequence[TensorSpec], record: Record, nodes: Sequence[Node], returned: set[int]
) -> Iterator[Buffer]:
    """Arguments, then what the Python code allocates, in the order of their numbers."""
    for tensor in tensors:
        yield Buffer(bytes=storage_bytes(tensor), origin=Origin.ARGUMENT)
    made = {step.buffer: step for step in record.steps if isinstance(step, Allocate)}
    if sorted(made) != list(range(len(tensors), len(tensors) + len(made))):
        raise refuted("trace", "the record numbers its memory in another way")
    for number, step in sorted(made.items()):
        spec = TensorSpec(name="", shape=step.shape, stride=step.stride, dtype=step.dtype)
        uses = [position for position, node in enumerate(nodes) if number in touched(node)]
        last = None if number in returned else max(uses, default=None)
        yield Buffer(bytes=storage_bytes(spec), origin=Origin.SCRATCH, last_use=last)


def _nodes(steps: Sequence[Step]) -> Iterator[Node]:
    for step in steps:
        match step:
            case Fill() | Library():
                yield step
            case KernelLaunch():
                yield _launch(step)
            case Allocate():
                continue
            case _:
                raise undecided("unsupported: C++ extensions beside kernels that Python code compiled")


def _launch(step: KernelLaunch) -> Launch:
    views = [(number, item) for number, item in enumerate(step.arguments) if isinstance(item, View)]
    return Launch(
        kernel=step.kernel,
        grid=step.grid,
        block=step.block,
        cluster=step.cluster,
        shared=step.shared,
        cooperative=step.cooperative,
        attributes=step.attributes,
        arguments=tuple(item.data if isinstance(item, Word) else _ADDRESS for item in step.arguments),
        relocations=tuple(
            Relocation(argument=number, offset=0, buffer=view.buffer, addend=view.offset) for number, view in views
        ),
    )


def _attributes(nodes: Sequence[Node]) -> dict[str, dict[str, int]]:
    """Kernels with more dynamic shared memory than is allowed by default must ask for it, as Triton does."""
    most: dict[str, int] = {}
    for node in nodes:
        if isinstance(node, Launch) and node.shared > _SHARED_BY_DEFAULT:
            most[node.kernel] = max(node.shared, most.get(node.kernel, 0))
    return {name: {"max_dynamic_shared": size} for name, size in most.items()}


def _manifest(task: Task, candidate: Candidate, seconds: float) -> Manifest:
    gpu = gpu_named(candidate.flags.gpu)
    return Manifest(
        candidate=candidate.id,
        task=task.key,
        gpu=gpu.name,
        arch=gpu.arch,
        flags=candidate.flags,
        compilers={"triton": _version("triton")},
        command=("triton.compile",),
        hashes={},
        seconds={"total": seconds},
        isolation=isolation().mode,
        warpwright=__version__,
    )


def _version(package: str) -> str:
    try:
        return version(package)
    except PackageNotFoundError:
        return "unknown"
