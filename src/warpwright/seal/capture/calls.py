"""Writes the requests to a capture program: one call of one entry point, on tensors without contents."""

from __future__ import annotations

import json
from collections.abc import Iterable, Iterator, Mapping, Sequence
from itertools import count
from typing import Any

from warpwright.core.dtypes import dtype_named
from warpwright.core.gpus.table import Gpu
from warpwright.core.signature import ListSpec, ScalarSpec, Spec, TensorSpec, flatten

BASES = 3
"""The number of different address spaces under which each call is captured."""
ALIGNMENT = 512
"""The alignment that torch's allocator guarantees."""


def request(
    entry: str, arguments: Sequence[Spec], gpu: Gpu, space: int, kernels: Iterable[Mapping[str, int]] = ()
) -> bytes:
    """One request, as a line. Address spaces differ so that every buffer moves by a different distance."""
    start = ((16 + 19 * space) << 40) + space * (0x91A1 << 9)
    gap = (1 + 2 * space) << 21
    buffers: list[dict[str, int]] = []
    for size in (storage_bytes(tensor) for spec in arguments for tensor in flatten(spec)):
        buffers.append({"base": start, "bytes": size})
        start += -(-size // ALIGNMENT) * ALIGNMENT + gap
    asked = {
        "entry": entry,
        "arguments": values(arguments),
        "buffers": buffers,
        "scratch": {"base": ((24 + 19 * space) << 40) + (space << 36), "gap": gap},
        "gpu": gpu_facts(gpu),
        "kernels": list(kernels),
    }
    return json.dumps(asked).encode() + b"\n"


def entries_request(gpu: Gpu) -> bytes:
    """Requests the names of all bound entry points."""
    return json.dumps({"entry": None, "gpu": gpu_facts(gpu)}).encode() + b"\n"


def values(arguments: Sequence[Spec]) -> list[dict[str, Any]]:
    """The arguments of a call; each tensor is a separate buffer, in order."""
    numbers = count()
    return [_value(spec, numbers) for spec in arguments]


def storage_bytes(tensor: TensorSpec) -> int:
    if 0 in tensor.shape:
        return 0
    reach = sum((extent - 1) * stride for extent, stride in zip(tensor.shape, tensor.stride, strict=True))
    return (reach + 1) * dtype_named(tensor.dtype).bytes


def _value(spec: Spec, numbers: Iterator[int]) -> dict[str, Any]:
    match spec:
        case TensorSpec():
            return _tensor(spec, next(numbers))
        case ListSpec():
            return {"list": [_tensor(item, next(numbers)) for item in spec.items]}
        case ScalarSpec():
            return _scalar(spec.value)


def _tensor(spec: TensorSpec, buffer: int) -> dict[str, Any]:
    dtype = dtype_named(spec.dtype).torch
    shape = {"shape": list(spec.shape), "stride": list(spec.stride)}
    return {"tensor": {"buffer": buffer, "offset": 0, **shape, "dtype": dtype}}


def _scalar(value: Any) -> dict[str, Any]:
    match value:
        case None:
            return {"none": None}
        case bool():
            return {"bool": value}
        case int():
            return {"int": value}
        case float():
            return {"float": value}
        case str():
            return {"string": value}
    return {"list": [_scalar(item) for item in value]}


def gpu_facts(gpu: Gpu) -> dict[str, Any]:
    """The device properties of the target that host code may query."""
    arch = gpu.architecture
    return {
        "name": gpu.title,
        "major": arch.capability[0],
        "minor": arch.capability[1],
        "multiprocessors": gpu.sms,
        "global_memory": int(gpu.memory_gb * 10**9),
        "shared_per_block": arch.shared_per_block,
        "shared_per_block_optin": arch.shared_per_block_optin,
        "shared_per_multiprocessor": arch.shared_per_sm,
        "reserved_shared_per_block": arch.shared_reserved_per_block,
        "registers_per_block": arch.registers_per_block,
        "registers_per_multiprocessor": arch.registers_per_sm,
        "threads_per_multiprocessor": arch.threads_per_sm,
        "blocks_per_multiprocessor": arch.blocks_per_sm,
        "threads_per_block": arch.threads_per_block,
        "max_block": arch.max_block,
        "max_grid": arch.max_grid,
        "cluster_blocks": arch.cluster_blocks,
        "register_granularity": arch.register_granularity,
        "shared_granularity": arch.shared_granularity,
        "l2": int(gpu.l2_mb * 2**20),
        "clock_khz": gpu.clock_mhz * 1000,
    }
