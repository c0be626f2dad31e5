"""torch.cuda without a GPU: the device of the target answers what code may ask, and refuses what no plan can hold."""

from __future__ import annotations

import contextlib
import types
from collections.abc import Callable, Mapping
from typing import Any

import torch

from warpwright.languages.python.inside.outcomes import unsupported
from warpwright.languages.python.inside.recorder import Recorder

_CLOCKS_AND_GRAPHS = (
    "CUDAGraph",
    "graph",
    "Event",
    "make_graphed_callables",
    "memory_allocated",
    "max_memory_allocated",
    "memory_reserved",
    "mem_get_info",
    "ExternalStream",
    "caching_allocator_alloc",
    "memory_stats",
    "utilization",
)


class Stream:
    """A stream. A plan has only one, so that all of them are it."""

    cuda_stream = 0
    stream_id = 0
    device_index = 0

    def __init__(self, *_: Any, **__: Any) -> None:
        self.device = torch.device("cuda", 0)

    def __enter__(self) -> Stream:
        return self

    def __exit__(self, *_: object) -> None:
        return None

    def synchronize(self) -> None:
        return None

    def wait_stream(self, other: object) -> None:
        return None

    def query(self) -> bool:
        return True

    def record_event(self, event: object = None) -> None:
        return None

    def wait_event(self, event: object) -> None:
        return None


def install(recorder: Recorder, gpu: Mapping[str, Any]) -> None:
    """Puts our answers in the place of torch's."""
    cuda = torch.cuda
    properties = _properties(gpu)
    replaced: dict[str, Any] = {
        "_lazy_init": lambda *_: None,
        "is_available": lambda: True,
        "is_initialized": lambda: True,
        "init": lambda: None,
        "device_count": lambda: 1,
        "current_device": lambda: 0,
        "set_device": lambda *_: None,
        "synchronize": lambda *_, **__: None,
        "empty_cache": lambda: None,
        "get_device_properties": lambda *_: properties,
        "get_device_name": lambda *_: properties.name,
        "get_device_capability": lambda *_: (properties.major, properties.minor),
        "is_bf16_supported": lambda *_, **__: True,
        "Stream": Stream,
        "current_stream": lambda *_: Stream(),
        "default_stream": lambda *_: Stream(),
        "stream": lambda *_: contextlib.nullcontext(),
        "set_stream": lambda *_: None,
        "device": lambda *_: contextlib.nullcontext(),
        "manual_seed": lambda *_: None,
        "manual_seed_all": lambda *_: None,
        "is_current_stream_capturing": lambda: False,
    }
    for name in _CLOCKS_AND_GRAPHS:
        replaced[name] = _refusing(recorder, f"torch.cuda.{name}")
    for name, value in replaced.items():
        setattr(cuda, name, value)
    nvtx: Any = cuda.nvtx
    nvtx.range_push = nvtx.range_pop = lambda *_: None


def _refusing(recorder: Recorder, what: str) -> Callable[..., Any]:
    def refuse(*_: Any, **__: Any) -> None:
        recorder.refuse(unsupported(what))

    return refuse


def _properties(gpu: Mapping[str, Any]) -> Any:
    return types.SimpleNamespace(
        name=gpu["name"],
        major=gpu["major"],
        minor=gpu["minor"],
        total_memory=gpu["global_memory"],
        multi_processor_count=gpu["multiprocessors"],
        shared_memory_per_block=gpu["shared_per_block"],
        shared_memory_per_block_optin=gpu["shared_per_block_optin"],
        shared_memory_per_multiprocessor=gpu["shared_per_multiprocessor"],
        regs_per_multiprocessor=gpu["registers_per_multiprocessor"],
        max_threads_per_multi_processor=gpu["threads_per_multiprocessor"],
        max_threads_per_block=gpu["threads_per_block"],
        warp_size=32,
        L2_cache_size=gpu["l2"],
        is_integrated=False,
    )
