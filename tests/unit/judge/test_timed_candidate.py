"""A candidate while it is timed: every call writes correct results, and only to its own memory.

The worker process is played by an object of this process, the GPU's memory by CPU memory.
"""

from __future__ import annotations

import random
from typing import Any

import pytest
import torch

from warpwright.core.candidate import Flags
from warpwright.core.launch.plan import Buffer, Origin, Plan, View
from warpwright.core.launch.sealed import Manifest, Sealed
from warpwright.core.records.measurement import Cache
from warpwright.core.task import Case, Draw, Output, Reference, Role, Task, TensorArg
from warpwright.judge.checks.examine import StagedCandidate
from warpwright.judge.gpu.arena import Arena, Layout, red_zone_bytes
from warpwright.judge.processes.staged_call import StagedCall, stage
from warpwright.judge.processes.workers import WorkerFailure
from warpwright.judge.timing.interleaving import DroppedOut
from warpwright.judge.timing.timed_candidate import TimedCandidate, TimedCompetitor, WrongWhileTimed
from warpwright.oracle.truth.expected import scenario

NUMBER = 32
CASE = Case(name="one", role=Role.TIME, dims={"N": NUMBER})
TASK = Task(
    name="double",
    arguments=(TensorArg(name="x", shape=("N",)),),
    outputs=(Output(name="y", shape=("N",)),),
    cases=(CASE,),
    reference=Reference(source="def forward(x):\n    return x + x\n"),
)
VIEWS = tuple(View(buffer=number, offset=0, shape=(NUMBER,), stride=(1,), dtype="fp32") for number in range(2))
BUFFERS = tuple(Buffer(bytes=4 * NUMBER, origin=origin) for origin in (Origin.ARGUMENT, Origin.SCRATCH))
PLAN = Plan(entry="forward", case="one", buffers=BUFFERS, arguments=VIEWS[:1], nodes=(), returns=VIEWS[1:])
MANIFEST = Manifest(
    candidate="c",
    task=TASK.key,
    gpu="h200",
    arch="sm_90a",
    flags=Flags(),
    compilers={},
    command=(),
    hashes={},
    seconds={},
    isolation="",
    warpwright="",
)
SEALED = Sealed(id="s", source="", manifest=MANIFEST, entries=(), cubin=None, plans=(PLAN,))


class PlayedWorker:
    """Doubles x in each call. With `reach`, a call also writes the results of the calls behind it; with `stray`, one
    byte far outside of all buffers.
    """

    def __init__(self, calls: list[StagedCall], arena: Arena, reach: int, stray: bool, wrong: bool) -> None:
        self._calls, self._arena, self._reach, self._stray, self._wrong = calls, arena, reach, stray, wrong
        self._chains: dict[int, list[int]] = {}
        self.failure: Exception | None = None

    def ask(self, do: str, timeout_s: float, **arguments: Any) -> dict[str, Any]:
        if self.failure:
            raise self.failure
        return getattr(self, do)(**arguments)  # type: ignore[no-any-return]

    def peak_memory(self, slots: list[int]) -> dict[str, Any]:
        return {"peak_bytes": 64}

    def prepare(self, key: int, slots: list[int], reads: list[list[int]]) -> dict[str, Any]:
        return {}

    def chain(self, key: int, calls: list[int], warm: bool, work: bool) -> dict[str, Any]:
        self._chains[key] = calls
        return {}

    def time(self, keys: list[int | None], cache: str, restore: bool) -> dict[str, Any]:
        calls = [self._chains.get(key, [key]) if key is not None else [] for key in keys]
        for position in (position for some in calls for position in some):
            for reached in range(position, min(position + 1 + self._reach, len(self._calls))):
                self._call(self._calls[reached])
        return {"samples_us": [float(len(some)) for some in calls]}

    def _call(self, call: StagedCall) -> None:
        places = call.entries[0].places
        x, y = (self._arena.tensor(places[number], 0, (NUMBER,), (1,), torch.float32) for number in range(2))
        torch.add(x, x, out=y)
        y[NUMBER // 2] += self._wrong
        if self._stray:
            self._arena.bytes[places[1].offset + places[1].size + 8] ^= 1


@pytest.fixture(autouse=True)
def without_a_gpu(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(torch.cuda, "synchronize", lambda: None)


def started(
    kind: type[TimedCandidate] = TimedCandidate, reach: int = 0, stray: bool = False, wrong: bool = False
) -> tuple[TimedCandidate, PlayedWorker]:
    layout, draw = Layout(), Draw(case=CASE)
    given = scenario(TASK, draw)
    calls = tuple(stage(TASK, SEALED, draw, given, layout, slot) for slot in range(12))
    arena = Arena(torch.zeros(layout.total, dtype=torch.uint8))
    worker = PlayedWorker(list(calls), arena, reach, stray, wrong)
    zones = red_zone_bytes((place for call in calls for place in call.places), device="cpu")
    staged = StagedCandidate(process=worker, arena=arena, calls=calls, red_zones=zones)  # type: ignore[arg-type]
    return kind("c", TASK, staged, given, random.Random(3)), worker


@pytest.fixture(params=[False, True], ids=["single calls", "chains"])
def chained(request: pytest.FixtureRequest) -> bool:
    return bool(request.param)


def test_correct_calls_are_timed(chained: bool) -> None:
    candidate, _ = started()
    if chained:
        candidate.chain()
    assert len(candidate.block(Cache.COLD)) == (4 if chained else 12)
    assert len(candidate.half_block()) == (2 if chained else 6)


def test_a_call_that_writes_to_the_memory_of_another_is_refuted(chained: bool) -> None:
    candidate, _ = started(reach=1)
    if chained:
        candidate.chain()
    candidate.block(Cache.COLD)  # all calls run: each has the right result
    with pytest.raises(WrongWhileTimed, match="memory of another"):
        candidate.half_block()


def test_a_wrong_result_while_timed_refutes(chained: bool) -> None:
    candidate, _ = started(wrong=True)
    if chained:
        candidate.chain()
    with pytest.raises(WrongWhileTimed, match="wrong"):
        candidate.block(Cache.COLD)


def test_a_write_outside_all_buffers_while_timed_refutes() -> None:
    with pytest.raises(WrongWhileTimed, match="outside its buffers"):
        started(stray=True)[0].block(Cache.COLD)


def test_a_competitor_with_a_wrong_result_drops_out() -> None:
    competitor, _ = started(TimedCompetitor, wrong=True)
    with pytest.raises(DroppedOut, match="wrong"):
        competitor.block(Cache.COLD)


def test_a_competitor_that_hangs_drops_out() -> None:
    competitor, worker = started(TimedCompetitor)
    worker.failure = WorkerFailure("hang", "no end after 10 s")
    with pytest.raises(DroppedOut, match="no end"):
        competitor.block(Cache.COLD)
    assert competitor.slope_us() is None
