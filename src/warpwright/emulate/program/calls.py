"""Writes the requests to an emulated program: one call of one entry point on actual data, in one order of threads."""

from __future__ import annotations

import json
import random
from dataclasses import dataclass
from enum import StrEnum
from itertools import accumulate
from pathlib import Path

from warpwright.core.dtypes import dtype_named
from warpwright.core.gpus.table import Gpu
from warpwright.core.signature import Spec, flatten
from warpwright.seal.capture.calls import gpu_facts, values

_LOWEST, _ARENAS, _STEP = 0x7E00_0000_0000, 1920, 1 << 30
"""The range of addresses at which GPU memory usually lies."""
_APART = 1 << 17
_ALIGNMENT = 512
STEPS = 300_000_000
"""The limit on checked accesses of a call: some seconds."""


class Order(StrEnum):
    """The order in which threads, warps and blocks are scheduled."""

    FORWARD = "forward"
    REVERSE = "reverse"
    SHUFFLED = "shuffled"


@dataclass(frozen=True, slots=True, kw_only=True)
class Supplied:
    """The results of a library operation: its outputs one after another, each contiguous."""

    node: int
    data: bytes


@dataclass(frozen=True, slots=True, kw_only=True)
class EmulatedCall:
    """One call of an entry point on actual data."""

    entry: str
    arguments: tuple[Spec, ...]
    contents: tuple[bytes, ...]
    """The bytes of the tensor arguments, flat and in order."""
    order: Order = Order.FORWARD
    seed: int = 0
    shifted: bool = False
    """Whether tensors start one element past an aligned address."""
    counters: bool = False
    blocks: int | None = None
    """The largest number of blocks of a launch to run: the first, the last and some in between; None for all."""
    numbers: tuple[bytes | None, ...] = ()
    """For a lifted program: the numbers that the floats of an argument stand for; None to read them as constants."""
    library: tuple[Supplied, ...] = ()
    """Results of operations that the program leaves to torch."""
    again: bool = False
    """Whether the call is made twice in one process, with the same addresses; only the second result counts."""


def request(call: EmulatedCall, gpu: Gpu, number: int, folder: Path, attempt: int = 0) -> bytes:
    """One request, as a line; the bytes of the arguments are in a separate file."""
    (folder / input_name(number)).write_bytes(b"".join(call.contents))
    places = _numbers(call, number, folder)
    arena = arena_of(call, attempt)
    buffers, base, position = [], arena + _APART, 0
    tensors = [tensor for spec in call.arguments for tensor in flatten(spec)]
    for tensor, content, numbers in zip(tensors, call.contents, places, strict=True):
        shift = dtype_named(tensor.dtype).bytes if call.shifted else 0
        place = {"data": input_name(number), "at": position} if content else {"data": None, "at": 0}
        named = {**numbers, "dtype": dtype_named(tensor.dtype).torch} if numbers else {}
        buffers.append({"base": base + shift, "bytes": len(content), **place, **named})
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


def _numbers(call: EmulatedCall, number: int, folder: Path) -> list[dict[str, object]]:
    if not call.numbers:
        return [{} for _ in call.contents]
    (folder / numbers_name(number)).write_bytes(b"".join(item or b"" for item in call.numbers))
    starts = accumulate((len(item or b"") for item in call.numbers), initial=0)
    return [
        {} if item is None else {"numbers": numbers_name(number), "numbers_at": start}
        for item, start in zip(call.numbers, starts, strict=False)
    ]


def arena_of(call: EmulatedCall, attempt: int) -> int:
    """The start of the device memory, which depends on seed, order and the number of failed attempts."""
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


def numbers_name(number: int) -> str:
    return f"numbers-{number}"


def library_name(number: int) -> str:
    return f"library-{number}"
