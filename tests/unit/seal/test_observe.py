"""Purity, with a scripted program in place of a compiled one: what is accepted, what is refuted, what is undecided."""

from __future__ import annotations

import json
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from typing import Any

import pytest

from warpwright.core.calls import EntryCall
from warpwright.core.errors import OurFault
from warpwright.core.gpus.table import GPUS
from warpwright.core.launch.plan import Fill, Launch, Plan, Relocation, Upload, View
from warpwright.core.records.evidence import Verdict
from warpwright.core.signature import TensorSpec
from warpwright.sandbox.run import Finished
from warpwright.seal.capture.observe import HostCall, Observer
from warpwright.seal.capture.traced import Trace, TracedBuffer, TracedLaunch, TracedNode, TracedUpload
from warpwright.seal.plans.building import make_plan
from warpwright.seal.refusal import Refused

Request = dict[str, Any]
ENDED = Finished(returncode=0, signal=None, stdout=b"", stderr=b"", seconds=0.0, reason=None)
SPEC = TensorSpec(name="x", shape=(4,), stride=(1,), dtype="fp32")
VIEW = View(buffer=1, offset=0, shape=(4,), stride=(1,), dtype="fp32")
FORWARD = EntryCall(entry="forward", arguments=(), results=())
CALLS = [HostCall(step=FORWARD, case=name, arguments=(SPEC,)) for name in ("small", "large")]


def word(address: int) -> str:
    return address.to_bytes(8, "little").hex()


def trace(request: Request, *nodes: TracedNode, arguments: tuple[str, ...] | None = None) -> Trace:
    """One launch on the argument and a scratch buffer, after the given nodes."""
    given, scratch = request["buffers"][0], request["scratch"]["base"]
    launch = TracedLaunch(
        code=1, grid=(1, 1, 1), block=(32, 1, 1), arguments=arguments or (word(given["base"]), word(scratch + 8))
    )
    buffers = (
        TracedBuffer(base=given["base"], bytes=16, origin="argument"),
        TracedBuffer(base=scratch, bytes=16, origin="scratch", freed=len(nodes) + 1),
        TracedBuffer(base=scratch + (1 << 30) + request["scratch"]["gap"], bytes=16, origin="symbol", symbol=2),
    )
    return Trace(outcome="captured", buffers=buffers, nodes=(*nodes, launch), returns=(VIEW,))


@dataclass
class Script:
    """Answers each request by a function of it and of how many this process has had before."""

    answer: Callable[[Request, int], Trace]
    processes: int = 0

    def __call__(self, lines: Sequence[bytes]) -> tuple[list[Trace], Finished]:
        self.processes += 1
        return [self.answer(json.loads(line), count) for count, line in enumerate(lines)], ENDED


def observed(answer: Callable[[Request, int], Trace]) -> list[tuple[Trace, ...]]:
    return Observer(ask=Script(answer), gpu=GPUS["h200"]).observe(CALLS)


def planned(answer: Callable[[Request, int], Trace]) -> list[Plan]:
    return [
        make_plan(call.step.entry, call.case, seen, str) for call, seen in zip(CALLS, observed(answer), strict=True)
    ]


def refusal_of(answer: Callable[[Request, int], Trace]) -> Any:
    with pytest.raises(Refused) as caught:
        planned(answer)
    return caught.value.refusal


def test_a_pure_call_is_planned_with_relocations() -> None:
    plans = [
        make_plan("forward", "small", traces, lambda code: f"kernel {code}")
        for traces in observed(lambda r, _: trace(r))
    ]
    launch = plans[0].nodes[0]
    assert isinstance(launch, Launch)
    assert launch.kernel == "kernel 1"
    assert launch.arguments == (bytes(8), bytes(8))
    assert launch.relocations == (
        Relocation(argument=0, offset=0, buffer=0, addend=0),
        Relocation(argument=1, offset=0, buffer=1, addend=8),
    )
    assert [buffer.last_use for buffer in plans[0].buffers] == [None, 0, None]
    assert plans[0] == plans[1]


def test_pointer_tables_in_uploads_are_relocated() -> None:
    def answer(request: Request, _: int) -> Trace:
        return trace(
            request, TracedUpload(buffer=1, offset=0, data="07000000" + word(request["buffers"][0]["base"] + 4))
        )

    upload = make_plan("forward", "small", observed(answer)[0], str).nodes[0]
    assert isinstance(upload, Upload)
    assert upload.data == bytes.fromhex("07000000") + bytes(8)
    assert upload.relocations == (Relocation(offset=4, buffer=0, addend=4),)


def test_a_fill_with_nan_is_the_same_each_time() -> None:
    fill = make_plan("forward", "small", observed(lambda r, _: trace(r, Fill(target=VIEW, value=float("nan"))))[0], str)
    assert isinstance(fill.nodes[0], Fill)


@pytest.mark.parametrize("answer", [
    lambda request, count: replace(trace(request), nodes=()) if count else trace(request),
    lambda request, count: trace(request, arguments=(word(count), word(0))),
    lambda request, count: trace(request, *[Fill(target=VIEW, value=0)] * count),
], ids=["caches the result", "passes a counter", "does more each time"])  # fmt: skip
def test_state_between_calls_is_refuted(answer: Callable[[Request, int], Trace]) -> None:
    refusal = refusal_of(answer)
    assert refusal.verdict is Verdict.REFUTED
    assert refusal.counterexample.kind == "stateful-host-code"


def test_remembering_addresses_is_refuted() -> None:
    def ask(lines: Sequence[bytes]) -> tuple[list[Trace], Finished]:
        known: set[int] = set()
        traces = []
        for request in map(json.loads, lines):
            base = request["buffers"][0]["base"]
            whole = trace(request)
            traces.append(replace(whole, nodes=()) if base in known else whole)
            known.add(base)
        return traces, ENDED

    with pytest.raises(Refused) as caught:
        Observer(ask=ask, gpu=GPUS["h200"]).observe(CALLS[:1])
    assert caught.value.refusal.counterexample is not None
    assert caught.value.refusal.counterexample.kind == "stateful-host-code"


@pytest.mark.parametrize("argument", [
    lambda request: word(request["buffers"][0]["base"] >> 4),
    lambda request: word(request["buffers"][0]["base"])[:8],
    lambda request: word(request["buffers"][0]["base"] * 3),
], ids=["shifted", "truncated", "multiplied"])  # fmt: skip
def test_what_depends_on_addresses_is_refuted(argument: Callable[[Request], str]) -> None:
    refusal = refusal_of(lambda request, _: trace(request, arguments=(argument(request), word(0))))
    assert refusal.counterexample.kind == "stateful-host-code"
    assert "not the address" in refusal.counterexample.message


def test_setting_up_device_variables_once_is_allowed_and_is_in_the_plan() -> None:
    def answer(request: Request, count: int) -> Trace:
        whole = trace(request, TracedUpload(buffer=2, offset=0, data="0102"))
        later = trace(request)
        return replace(later, buffers=later.buffers[:2]) if count else whole

    plans = planned(answer)
    assert [len(plan.nodes) for plan in plans] == [2, 2]


@pytest.mark.parametrize(
    ("outcome", "what", "verdict", "kind"),
    [
        ("unsupported", "at::foo", Verdict.UNDECIDED, None),
        ("reads_device_data", "Tensor.item", Verdict.REFUTED, "reads-device-data"),
        ("error", "check", Verdict.REFUTED, "check"),
        ("error", "arguments", Verdict.REFUTED, "arguments"),
        ("passed", "", Verdict.REFUTED, "trace"),
    ],
)
def test_outcomes_become_refusals(outcome: str, what: str, verdict: Verdict, kind: str | None) -> None:
    refusal = refusal_of(lambda request, _: Trace(outcome=outcome, what=what, message="why"))
    assert refusal.verdict is verdict
    assert (refusal.counterexample and refusal.counterexample.kind) == kind


@pytest.mark.parametrize(
    ("change", "kind"),
    [
        ({"signal": 11, "returncode": None}, "host-crash"),
        ({"returncode": 0}, "host-exit"),
        ({"signal": 9, "returncode": None}, "host-crash"),
        ({"signal": 9, "returncode": None, "reason": "idle time"}, "host-limit"),
    ],
)
def test_a_process_that_ends_early_is_refuted_at_the_call_it_died_in(change: dict[str, Any], kind: str) -> None:
    def ask(lines: Sequence[bytes]) -> tuple[list[Trace], Finished]:
        return [trace(json.loads(lines[0]))], replace(ENDED, **change)

    with pytest.raises(Refused) as caught:
        Observer(ask=ask, gpu=GPUS["h200"]).observe(CALLS)
    counterexample = caught.value.refusal.counterexample
    assert counterexample is not None
    assert (counterexample.kind, counterexample.case) == (kind, "large")


def test_a_process_that_the_clock_ended_is_no_verdict() -> None:
    ended = replace(ENDED, signal=9, returncode=None, reason="wall clock")
    with pytest.raises(OurFault, match="too little of this machine") as caught:
        Observer(ask=lambda lines: ([], ended), gpu=GPUS["h200"]).observe(CALLS)
    assert caught.value.fault.retryable
