"""The process that runs candidate kernels; its CUDA context holds their inputs, outputs and scratch, nothing else.

Expected values, seeds and the verdict stay with the judge, whose commands this process executes. A CUDA error is
reported and ends the process, because the context does not recover.
"""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from multiprocessing.connection import Connection
from typing import Any

import torch

from warpwright.core.codec import decode
from warpwright.core.launch.plan import Library, Plan
from warpwright.core.launch.sealed import Sealed
from warpwright.core.records.measurement import Cache
from warpwright.judge.gpu import driver
from warpwright.judge.gpu.arena import Arena, Place
from warpwright.judge.gpu.module import Module
from warpwright.judge.gpu.peak_memory import peak_bytes
from warpwright.judge.gpu.precision import allow_tf32
from warpwright.judge.gpu.replay import Replayed, replay
from warpwright.judge.processes.link import MEMORY_TAKEN, serve
from warpwright.judge.timing.cuda_timer import CudaTimer


class ArenaTooLarge(Exception):
    """The buffers of all calls do not fit beside what other processes hold."""


class KernelProcess:
    """The state of the process between commands."""

    def __init__(self) -> None:
        torch.cuda.init()
        torch.zeros(1, device="cuda")
        self._timer: CudaTimer | None = None
        self._slots: dict[int, tuple[Plan, dict[int, Place]]] = {}

    def greet(self) -> dict[str, Any]:
        return {}

    def arena(self, size: int) -> dict[str, Any]:
        try:
            self.memory = Arena.allocate(size)
        except driver.CudaError as error:
            raise ArenaTooLarge(f"{size / 2**30:.1f} GiB: {error.name}") from None
        return {"handle": self.memory.handle().hex()}

    def load(self, sealed: dict[str, Any], tf32: bool) -> dict[str, Any]:
        allow_tf32(tf32)
        self._sealed: Sealed = decode(Sealed, sealed)
        self._module = Module(
            (self._sealed.cubin or b"", *self._sealed.modules), self._sealed.kernels, self._sealed.variables
        )
        return {}

    def place(self, slot: int, case: str, entry: str, buffers: dict[str, list[int]]) -> dict[str, Any]:
        """Sets the places of the buffers of one entry: offset and size by the plan's buffer number."""
        places = {int(number): Place(offset=where[0], size=where[1]) for number, where in buffers.items()}
        self._slots[slot] = (self._sealed.plan(case, entry), places)
        return {}

    def run(self, slots: list[int], restore: bool = True) -> dict[str, Any]:
        """Runs calls in order, with the module's variables either restored before each or left as they are."""
        for slot in slots:
            if restore:
                self._reset()
            self._call(slot)
            torch.cuda.synchronize()
        return {}

    def prepare(self, key: int, slots: list[int], reads: list[list[int]]) -> dict[str, Any]:
        """Captures one call, which may have several entries, and records the memory that it reads as inputs."""
        self._timer = self._timer or CudaTimer()
        inputs = [self.memory.at(Place(offset=offset, size=size)) for offset, size in reads]
        self._timer.capture(key, self._steps(slots), inputs)
        return {}

    def peak_memory(self, slots: list[int]) -> dict[str, Any]:
        """Runs one call and measures the memory that it needs beyond its inputs."""
        return {"peak_bytes": peak_bytes(self._steps(slots))}

    def chain(self, key: int, calls: list[int], warm: bool = False, work: bool = True) -> dict[str, Any]:
        """Captures many prepared calls in one graph."""
        assert self._timer is not None
        self._timer.chain(key, calls, warm, work)
        return {}

    def time(self, keys: list[int | None], cache: str, restore: bool = True) -> dict[str, Any]:
        """Measures the device times of prepared calls, with the module's variables restored before each or left as they
        are.
        """
        assert self._timer is not None
        return {"samples_us": self._timer.time(keys, Cache(cache), self._reset if restore else lambda: None)}

    def library_part(self, key: int, of: int, slots: list[int]) -> dict[str, Any]:
        """Captures only the library nodes of a prepared call."""
        assert self._timer is not None
        self._timer.capture_part(key, self._steps(slots, Library), of)
        return {}

    def replay_all(self, keys: list[int]) -> dict[str, Any]:
        assert self._timer is not None
        self._timer.replay_all(keys)
        return {}

    def describe_error(self, error: Exception) -> dict[str, Any]:
        match error:
            case ArenaTooLarge():
                return {"kind": MEMORY_TAKEN, "error": "out of memory", "message": str(error)}
            case torch.OutOfMemoryError():
                kind = MEMORY_TAKEN if memory_is_taken(self.memory.bytes.numel()) else "memory"
                return {"kind": kind, "error": "out of memory", "message": _first_line(error)}
            case driver.CudaError():
                return {"kind": "cuda", "error": error.name, "message": error.call}
            case RuntimeError():  # torch reports a kernel's fault at a later call
                return {"kind": "cuda", "error": type(error).__name__, "message": _first_line(error)}
        return {"kind": "error", "error": type(error).__name__, "message": _first_line(error)}

    def _reset(self) -> None:
        self._module.restore(torch.cuda.current_stream().cuda_stream)

    def _steps(self, slots: list[int], only: type[Library] | None = None) -> list[Callable[[], Replayed]]:
        """The entries of one call. The second of two reads what the first returned, which cannot be deferred then."""
        return [partial(self._call, slot, only, defer=len(slots) == 1) for slot in slots]

    def _call(self, slot: int, only: type[Library] | None = None, defer: bool = False) -> Replayed:
        plan, places = self._slots[slot]
        arguments = [self.memory.at(places[number]) for number in range(len(plan.arguments))]
        return replay(
            plan, self._module, arguments, lambda number, size: self.memory.at(places[number]), only, defer=defer
        )


def memory_is_taken(own_bytes: int) -> bool:
    """Whether other processes hold more than half of the card: then the candidate is not to blame.

    This process holds `own_bytes` and what torch reserved.
    """
    free, total = torch.cuda.mem_get_info()
    return total - free - own_bytes - torch.cuda.memory_reserved() > total / 2


def main(connection: Connection) -> None:
    serve(connection, KernelProcess)


def _first_line(error: Exception) -> str:
    return (str(error).splitlines() or [""])[0][:500]
