"""The cell: a process whose CUDA context runs candidate kernels and holds inputs, outputs and scratch, nothing else.

Expected values, seeds and the verdict live with the judge, whose commands the cell obeys. A CUDA error is reported and
ends the cell, because a context does not recover.
"""

from __future__ import annotations

from functools import partial
from multiprocessing.connection import Connection
from typing import Any

import torch

from warpwright.core.codec import decode
from warpwright.core.measurement import Cache
from warpwright.core.plan import Library, Plan
from warpwright.core.sealed import Sealed
from warpwright.judge import driver
from warpwright.judge.arena import Arena, Place
from warpwright.judge.link import serve
from warpwright.judge.module import Module
from warpwright.judge.replay import replay
from warpwright.judge.stopwatch import Flush, Step, captured, replay_back_to_back, time_replays


class Cell:
    """State of the process between commands."""

    def __init__(self) -> None:
        torch.cuda.init()
        torch.zeros(1, device="cuda")
        self._flush: Flush | None = None
        self._slots: dict[int, tuple[Plan, dict[int, Place]]] = {}
        self._calls: dict[int, list[Step]] = {}
        self._inputs: dict[int, list[torch.Tensor]] = {}
        self._graphs: dict[int, torch.cuda.CUDAGraph] = {}

    def arena(self, size: int) -> dict[str, Any]:
        self.memory = Arena.own(size)
        return {"handle": self.memory.handle().hex()}

    def load(self, sealed: dict[str, Any]) -> dict[str, Any]:
        self._sealed: Sealed = decode(Sealed, sealed)
        self._module = Module(self._sealed.cubin or b"", self._sealed.kernels, self._sealed.variables)
        return {}

    def place(self, slot: int, case: str, entry: str, buffers: dict[str, list[int]]) -> dict[str, Any]:
        """Says where the buffers of one call lie: those of the plan by number, as offset and size."""
        places = {int(number): Place(offset=where[0], size=where[1]) for number, where in buffers.items()}
        self._slots[slot] = (self._sealed.plan(case, entry), places)
        return {}

    def run(self, slots: list[int], restore: bool = True) -> dict[str, Any]:
        """One call after the other, each with the module's variables as after loading or as the last one left them."""
        for slot in slots:
            if restore:
                self._reset()
            self._call(slot)
            torch.cuda.synchronize()
        return {}

    def prepare(self, key: int, slots: list[int], reads: list[list[int]]) -> dict[str, Any]:
        """Captures one call, which may be several acts, and remembers which memory it reads as inputs."""
        self._flush = self._flush or Flush()
        self._inputs[key] = [self.memory.at(Place(offset=offset, size=size)) for offset, size in reads]
        self._calls[key] = [partial(self._call, slot) for slot in slots]
        self._graphs[key] = captured(self._calls[key])
        return {}

    def chain(self, key: int, calls: list[int], leads: str | None, work: bool = True) -> dict[str, Any]:
        """Captures many prepared calls in one graph, each after its lead if asked, or the leads without the work."""
        assert self._flush is not None
        steps: list[Step] = []
        for call in calls:
            steps += [self._flush.lead(Cache(leads), self._inputs[call])] if leads else []
            steps += self._calls[call] if work else []
        self._graphs[key] = captured(steps, warm_ups=0)
        return {}

    def time(self, keys: list[int], cache: str, restore: bool = True) -> dict[str, Any]:
        """Device times of the graphs; a negative key stands for no work."""
        assert self._flush is not None
        takes = [
            (self._flush.lead(Cache(cache), self._inputs.get(key, ())), self._graphs[key] if key >= 0 else None)
            for key in keys
        ]
        batch = time_replays(takes, self._reset) if restore else time_replays(takes)
        return {"samples_us": list(batch.samples_us), "wall_s": batch.wall_s}

    def library_part(self, key: int, of: int, slots: list[int]) -> dict[str, Any]:
        """Captures the library's part of a prepared call alone."""
        self._inputs[key] = self._inputs[of]
        self._graphs[key] = captured([partial(self._call, slot, Library) for slot in slots])
        return {}

    def spin(self, keys: list[int]) -> dict[str, Any]:
        replay_back_to_back([self._graphs[key] for key in keys])
        return {}

    def _reset(self) -> None:
        self._module.restore(torch.cuda.current_stream().cuda_stream)

    def _call(self, slot: int, only: type[Library] | None = None) -> None:
        plan, places = self._slots[slot]
        arguments = [self.memory.at(places[number]) for number in range(len(plan.arguments))]
        replay(plan, self._module, arguments, lambda number, size: self.memory.at(places[number]), only)


def main(connection: Connection) -> None:
    serve(connection, Cell, _told)


def _told(error: Exception) -> dict[str, Any]:
    match error:
        case driver.CudaError():
            return {"kind": "cuda", "error": error.name, "message": error.call}
        case torch.OutOfMemoryError():
            return {"kind": "memory", "error": "out of memory", "message": _first_line(error)}
        case RuntimeError():  # torch reports a kernel's fault at whatever call comes next
            return {"kind": "cuda", "error": type(error).__name__, "message": _first_line(error)}
    return {"kind": "error", "error": type(error).__name__, "message": _first_line(error)}


def _first_line(error: Exception) -> str:
    return (str(error).splitlines() or [""])[0][:500]
