"""What an emulated program is asked: one call of one entry point on real bytes, in one order of threads."""

from __future__ import annotations

import json
import random
from dataclasses import dataclass
from enum import StrEnum
from pathlib import Path

from warpwright.core.dtypes import dtype_named
from warpwright.core.gpus.table import Gpu
from warpwright.core.signature import Spec, flatten
from warpwright.seal.capture.calls import gpu_facts, values

_LOWEST, _ARENAS, _STEP = 0x7E00_0000_0000, 1920, 1 << 30
"""Where memory of a GPU lies as a rule."""
_APART = 1 << 17
_ALIGNMENT = 512
STEPS = 300_000_000
"""Checked accesses before a call is given up: some seconds."""


class Order(StrEnum):
    """In which order threads, warps and blocks take their turns."""

    FORWARD = "forward"
    REVERSE = "reverse"
    SHUFFLED = "shuffled"


@dataclass(frozen=True, slots=True, kw_only=True)
class Supplied:
    """What a library operation gave: its outputs one after another, each without gaps."""

    node: int
    data: bytes


@dataclass(frozen=True, slots=True, kw_only=True)
class EmulatedCall:
    """One call of an entry point on real bytes."""

    entry: str
    arguments: tuple[Spec, ...]
    contents: tuple[bytes, ...]
    """Of the tensor arguments, flat and in order."""
    order: Order = Order.FORWARD
    seed: int = 0
    shifted: bool = False
    """Whether tensors start one element beyond an aligned address."""
    counters: bool = False
    blocks: int | None = None
    """Run at most so many blocks of a launch: the first, the last and some between."""
    library: tuple[Supplied, ...] = ()
    """Results of operations that the program leaves to torch."""
    again: bool = False
    """Asked twice of one process, with the same addresses; only the second answer counts."""


def request(call: EmulatedCall, gpu: Gpu, number: int, folder: Path, attempt: int = 0) -> bytes:
    """One line; the bytes of the arguments go to a file of their own beside it."""
    (folder / input_name(number)).write_bytes(b"".join(call.contents))
    arena = arena_of(call, attempt)
    buffers, base, position = [], arena + _APART, 0
    tensors = [tensor for spec in call.arguments for tensor in flatten(spec)]
    for tensor, content in zip(tensors, call.contents, strict=True):
        shift = dtype_named(tensor.dtype).bytes if call.shifted else 0
        place = {"data": input_name(number), "at": position} if content else {"data": None, "at": 0}
        buffers.append({"base": base + shift, "bytes": len(content), **place})
        base += -(-len(content) // _ALIGNMENT) * _ALIGNMENT + 2 * _APART
        position += len(content)
    asked = {
        "entry": call.entry,
        "arguments": values(call.arguments),
        "buffers": buffers,
        "scratch": {"base": base, "gap": _APART},
        "gpu": gpu_facts(gpu),
        "emulation": {"arena": arena, **_emulation(call, number, folder)},
    }
    line = json.dumps(asked).encode() + b"\n"
    return 2 * line if call.again else line


def arena_of(call: EmulatedCall, attempt: int) -> int:
    """Where its memory begins: elsewhere for another seed and order, and where something lay in the way."""
    drawn = random.Random(f"{call.seed} {call.order} {attempt}")
    return _LOWEST + drawn.randrange(_ARENAS) * _STEP


def _emulation(call: EmulatedCall, number: int, folder: Path) -> dict[str, object]:
    return {
        "order": call.order,
        "seed": call.seed,
        "counters": call.counters,
        "blocks": call.blocks,
        "steps": STEPS,
        "outputs": output_name(number),
        "library": _supplied(call, number, folder),
    }


def _supplied(call: EmulatedCall, number: int, folder: Path) -> list[dict[str, object]]:
    (folder / library_name(number)).write_bytes(b"".join(item.data for item in call.library))
    listed: list[dict[str, object]] = []
    position = 0
    for item in call.library:
        listed.append({"node": item.node, "data": library_name(number), "at": position})
        position += len(item.data)
    return listed


def input_name(number: int) -> str:
    return f"input-{number}"


def output_name(number: int) -> str:
    return f"output-{number}"


def library_name(number: int) -> str:
    return f"library-{number}"
