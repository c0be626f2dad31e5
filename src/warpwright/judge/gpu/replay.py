"""Replays a launch plan: repeats the launches of the candidate's host code on buffers of the judge."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace

import torch

from warpwright.core.launch.plan import (
    Constant,
    Copy,
    Fill,
    Launch,
    Library,
    Memset,
    Node,
    Plan,
    Relocation,
    Upload,
    View,
)
from warpwright.judge.gpu import driver
from warpwright.judge.gpu import torch_operations as library
from warpwright.judge.gpu.memory import Allocate, Memory, constant, plain
from warpwright.judge.gpu.module import Module


@dataclass(frozen=True, slots=True, kw_only=True)
class Replayed:
    """The tensors that an entry returned."""

    returns: tuple[torch.Tensor | None, ...]
    deliver: Callable[[], None]
    """Copies deferred results to the caller's buffers."""
    live_bytes: int
    peak_bytes: int
    """Bytes of the plan's buffers after the call and at their peak, without arguments and torch's own memory."""


def replay(
    plan: Plan,
    module: Module,
    arguments: Sequence[torch.Tensor],
    allocate: Allocate = plain,
    only: type[Node] | None = None,
    defer: bool = False,
) -> Replayed:
    """Executes the nodes in order on the current stream; side streams of the host code become that one stream.

    `only` executes nodes of one kind, in memory that a whole call has filled, to measure their share of its time.
    `defer` leaves returned library results in torch's own memory until `deliver`: eager torch makes no copy of them
    either, and the copy of a large result takes a fifth of a convolution's time.
    """
    returned = frozenset(view.buffer for view in plan.returns if isinstance(view, View))
    memory = Memory(plan.buffers, arguments, module.address, allocate, returned, defer)
    stream = torch.cuda.current_stream().cuda_stream
    for kernel, attributes in plan.attributes.items():
        for name, value in attributes.items():
            if name in driver.FUNCTION_ATTRIBUTES:
                driver.set_function_attribute(module.function(kernel), name, value)
    for number, node in enumerate(plan.nodes):
        if only is None or isinstance(node, only):
            _execute(node if number else _on_its_own(node), module, memory, stream)
        memory.release(number)
    return Replayed(
        returns=tuple(_returned(value, memory) for value in plan.returns),
        deliver=memory.deliver,
        live_bytes=memory.live_bytes,
        peak_bytes=memory.peak_bytes,
    )


def _on_its_own(node: Node) -> Node:
    """Removes programmatic launch from the first node of a call: it must not overlap with the work before the call."""
    if not isinstance(node, Launch):
        return node
    kept = {name: flag for name, flag in node.attributes.items() if name != "programmatic_stream_serialization"}
    return replace(node, attributes=kept)


def _execute(node: Node, module: Module, memory: Memory, stream: int) -> None:
    match node:
        case Launch():
            _launch(node, module, memory, stream)
        case Fill():
            memory.tensor(node.target).fill_(node.value)
        case Memset():
            driver.fill_bytes(memory.address(node.buffer) + node.offset, node.value, node.bytes, stream)
        case Upload():
            data = _relocated((node.data,), node.relocations, memory)[0]
            driver.upload(memory.address(node.buffer) + node.offset, data, stream)
        case Copy():
            source = memory.address(node.source) + node.source_offset
            driver.copy(memory.address(node.target) + node.target_offset, source, node.bytes, stream)
        case Library():
            library.execute(node, memory)


def _launch(node: Launch, module: Module, memory: Memory, stream: int) -> None:
    driver.launch(
        module.function(node.kernel),
        grid=node.grid,
        block=node.block,
        shared=node.shared,
        stream=stream,
        arguments=_relocated(node.arguments, node.relocations, memory),
        cluster=node.cluster,
        cooperative=node.cooperative,
        attributes=node.attributes,
    )


def _relocated(pieces: Sequence[bytes], relocations: Sequence[Relocation], memory: Memory) -> list[bytes]:
    """Writes the judge's addresses over the sandbox's addresses in argument bytes."""
    patched = [bytearray(piece) for piece in pieces]
    for item in relocations:
        address = memory.address(item.buffer) + item.addend
        patched[item.argument][item.offset : item.offset + 8] = address.to_bytes(8, "little")
    return [bytes(piece) for piece in patched]


def _returned(value: View | Constant | None, memory: Memory) -> torch.Tensor | None:
    if isinstance(value, View):
        return memory.tensor(value)
    return None if value is None else constant(value)
