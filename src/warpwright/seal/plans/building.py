"""Turns traces of one call under several address spaces into one plan, in which every address is a relocation.

A word that moves by the same distances as a buffer is an address in it. Any other difference between two captures of
the same call shows host code that depends on more than its arguments, which no plan can replace.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, fields, is_dataclass, replace
from typing import Any

from warpwright.core.launch.plan import (
    Buffer,
    Copy,
    Fill,
    Launch,
    Library,
    Memset,
    Node,
    Origin,
    Plan,
    Relocation,
    Upload,
    View,
)
from warpwright.seal.capture.traced import RETAINED, Trace, TracedBuffer, TracedLaunch, TracedNode, TracedUpload
from warpwright.seal.refusal import refuted

_WORD = 8


class Unresolved(ValueError):
    """Bytes that change with the address space but are not the address of a buffer."""


def difference(one: Trace, other: Trace) -> str | None:
    """The first difference between two captures of one call, apart from addresses; None if they agree.

    Compares their texts, so that a fill with NaN equals itself.
    """
    if any(buffer.origin == RETAINED for buffer in (*one.buffers, *other.buffers)):
        return "it uses memory that an earlier call allocated"
    if len(one.nodes) != len(other.nodes):
        return f"one call did {len(one.nodes)} device operations, another {len(other.nodes)}"
    for number, (left, right) in enumerate(zip(one.nodes, other.nodes, strict=True)):
        if repr(_shape_of(left)) != repr(_shape_of(right)):
            return f"device operation {number} ({left.KIND}) differs from one call to another"
    if [_lasting(buffer) for buffer in one.buffers] != [_lasting(buffer) for buffer in other.buffers]:
        return "the buffers it allocates differ from one call to another"
    if (one.returns, one.arguments) != (other.returns, other.arguments):
        return "what it returns differs from one call to another"
    return None


def _shape_of(node: TracedNode) -> TracedNode:
    """The node without bytes that may contain addresses."""
    match node:
        case TracedLaunch():
            return replace(node, arguments=tuple(str(len(argument)) for argument in node.arguments))
        case TracedUpload():
            return replace(node, data=str(len(node.data)))
    return node


def _lasting(buffer: TracedBuffer) -> tuple[int, str, int | None]:
    return buffer.bytes, buffer.origin, buffer.symbol


def without_setup(trace: Trace) -> Trace:
    """The trace without device variables and uploads to them, which host code may do only once."""
    kept = [number for number, buffer in enumerate(trace.buffers) if buffer.origin != Origin.SYMBOL]
    numbers = {old: new for new, old in enumerate(kept)}
    nodes = [node for node in trace.nodes if not (isinstance(node, TracedUpload) and node.buffer not in numbers)]
    return replace(
        trace,
        buffers=tuple(trace.buffers[number] for number in kept),
        nodes=tuple(_renumbered(node, numbers) for node in nodes),
        arguments=_renumbered(trace.arguments, numbers),
        returns=_renumbered(trace.returns, numbers),
    )


def _renumbered(value: Any, numbers: Mapping[int, int]) -> Any:
    """The value with its buffers renumbered."""
    if isinstance(value, tuple):
        return tuple(_renumbered(item, numbers) for item in value)
    if not is_dataclass(value) or isinstance(value, type):
        return value
    inner = {item.name: getattr(value, item.name) for item in fields(value)}
    speak_of = ("buffer", "source", "target")
    return replace(
        value,
        **{
            name: numbers.get(item, -1) if name in speak_of and isinstance(item, int) else _renumbered(item, numbers)
            for name, item in inner.items()
        },
    )


def make_plan(entry: str, case: str, traces: Sequence[Trace], name_of: Callable[[int], str]) -> Plan:
    """The plan of the agreeing traces of one call."""
    return _Planner(entry, case, traces, name_of).plan()


@dataclass(frozen=True, slots=True)
class _Planner:
    entry: str
    case: str
    traces: Sequence[Trace]
    name_of: Callable[[int], str]

    def plan(self) -> Plan:
        first = self.traces[0]
        nodes = tuple(self._node(number) for number in range(len(first.nodes)))
        return Plan(
            entry=self.entry,
            case=self.case,
            buffers=tuple(self._buffer(number, nodes) for number in range(len(first.buffers))),
            arguments=first.arguments,
            nodes=nodes,
            returns=first.returns,
            attributes=self._attributes(),
        )

    def _attributes(self) -> dict[str, dict[str, int]]:
        found: dict[str, dict[str, int]] = {}
        for attribute in self.traces[0].attributes:
            found.setdefault(self.name_of(attribute.code), {})[attribute.name] = attribute.value
        return found

    def _buffer(self, number: int, nodes: Sequence[Node]) -> Buffer:
        traced = self.traces[0].buffers[number]
        symbol = None if traced.symbol is None else self.name_of(traced.symbol)
        last_use = None if traced.freed is None else max((traced.freed - 1, *_uses(nodes, number)), default=None)
        return Buffer(bytes=traced.bytes, origin=Origin(traced.origin), symbol=symbol, last_use=last_use)

    def _node(self, number: int) -> Node:
        match self.traces[0].nodes[number]:
            case TracedLaunch() as node:
                return self._launch(node, number)
            case TracedUpload() as node:
                data, relocations = self._resolve([_data(trace, number) for trace in self.traces], 0, "uploaded data")
                return Upload(buffer=node.buffer, offset=node.offset, data=data, relocations=relocations)
            case node:
                return node

    def _launch(self, node: TracedLaunch, number: int) -> Launch:
        kernel = self.name_of(node.code)
        arguments: list[bytes] = []
        relocations: list[Relocation] = []
        for position in range(len(node.arguments)):
            values = [_argument(trace, number, position) for trace in self.traces]
            data, found = self._resolve(values, position, f"argument {position} of {kernel}")
            arguments.append(data)
            relocations += found
        return Launch(
            kernel=kernel,
            grid=node.grid,
            block=node.block,
            cluster=node.cluster,
            shared=node.shared,
            cooperative=node.cooperative,
            attributes=dict(node.attributes),
            stream=node.stream,
            arguments=tuple(arguments),
            relocations=tuple(relocations),
        )

    def _resolve(self, values: Sequence[bytes], position: int, what: str) -> tuple[bytes, tuple[Relocation, ...]]:
        try:
            return relocated(values, [[buffer.base for buffer in trace.buffers] for trace in self.traces], position)
        except Unresolved:
            message = f"{what} changes from call to call and is not the address of a buffer"
            raise refuted("stateful-host-code", message, case=self.case) from None


def _data(trace: Trace, number: int) -> bytes:
    node = trace.nodes[number]
    return bytes.fromhex(node.data) if isinstance(node, TracedUpload) else b""


def _argument(trace: Trace, number: int, position: int) -> bytes:
    node = trace.nodes[number]
    return bytes.fromhex(node.arguments[position]) if isinstance(node, TracedLaunch) else b""


def relocated(
    values: Sequence[bytes], bases: Sequence[Sequence[int]], argument: int = 0
) -> tuple[bytes, tuple[Relocation, ...]]:
    """The bytes without addresses, and for each address its position and its buffer."""
    moves = {_moves(column): buffer for buffer, column in enumerate(zip(*bases, strict=True))}
    data, found, at = bytearray(values[0]), [], 0
    while at < len(data):
        if all(value[at] == values[0][at] for value in values):
            at += 1
            continue
        offset, buffer = _address(values, at, moves)
        addend = _word(values[0], offset) - bases[0][buffer]
        found.append(Relocation(argument=argument, offset=offset, buffer=buffer, addend=addend))
        data[offset : offset + _WORD] = bytes(_WORD)
        at = offset + _WORD
    return bytes(data), tuple(found)


def _address(values: Sequence[bytes], at: int, moves: Mapping[tuple[int, ...], int]) -> tuple[int, int]:
    """The word around a changed byte that moves with a buffer. It may be misaligned in a packed struct."""
    aligned = at - at % _WORD
    for offset in (aligned, *range(at, at - _WORD, -1)):
        if 0 <= offset <= len(values[0]) - _WORD:
            move = _moves([_word(value, offset) for value in values])
            if move in moves:
                return offset, moves[move]
    raise Unresolved


def _word(value: bytes, offset: int) -> int:
    return int.from_bytes(value[offset : offset + _WORD], "little")


def _moves(words: Sequence[int]) -> tuple[int, ...]:
    return tuple(word - words[0] for word in words[1:])


def _uses(nodes: Sequence[Node], buffer: int) -> list[int]:
    return [number for number, node in enumerate(nodes) if buffer in touched(node)]


def touched(node: Node) -> set[int]:
    """The buffers that a node reads or writes, as far as its own bytes show."""
    match node:
        case Launch():
            return {relocation.buffer for relocation in node.relocations}
        case Upload():
            return {node.buffer, *(relocation.buffer for relocation in node.relocations)}
        case Fill():
            return {node.target.buffer}
        case Memset():
            return {node.buffer}
        case Copy():
            return {node.source, node.target}
        case Library():
            return {view.buffer for view in (*node.inputs, *node.outputs) if isinstance(view, View)}
