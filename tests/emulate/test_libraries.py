"""Algorithms of CUB and Thrust: their results are known, in every order, and what is lacking says so."""

from __future__ import annotations

import struct
from collections.abc import Callable, Sequence
from functools import cache
from itertools import accumulate
from pathlib import Path

import pytest

from warpwright.core.candidate import Candidate
from warpwright.core.gpus.table import gpu_named
from warpwright.core.signature import TensorSpec
from warpwright.emulate.program.build import program
from warpwright.emulate.program.calls import EmulatedCall, Order
from warpwright.emulate.program.running import Ran, run
from warpwright.seal.cache import Store, default_root

pytestmark = pytest.mark.timeout(600)

SOURCE = Path(__file__).parent / "runtime" / "libraries.cu"
ELEMENTS = 10000
# Whole numbers, so that sums are exact in every order.
X = [float(i * 7919 % 601 - 300) for i in range(ELEMENTS)]
SPEC = TensorSpec(name="x", shape=(ELEMENTS,), stride=(1,), dtype="fp32")
ROWS = [X[start : start + 1000] for start in range(0, ELEMENTS, 1000)]
ALONE = [
    max(X),
    sum(v * v for v in X[:10]),
    sum(v * v for v in X[:10]),
    float(X.index(max(X))),
    30.0,
    1.0,
    1.0 + X[0],
    1.0 + X[0] + X[1],
    X[0] + 1.0,
    X[1] + 1.0,
    3.5,
    3.5,
]
EXPECTED: dict[str, Sequence[float]] = {
    "sum": [sum(X)],
    "sum_of_nothing": [0.0],
    "maximum": [max(X)],
    "minimum": [min(X)],
    "joined": [4000.0],
    "squares": [sum(v * v for v in X) + 0.5],
    "segments": [sum(row) for row in ROWS],
    "lowest_of_segments": [min(row) for row in ROWS],
    "inclusive": list(accumulate(X)),
    "exclusive": [0.0, *accumulate(X[:-1])],
    "running_maximum": list(accumulate(X, max)),
    "maximum_before": list(accumulate([3.0, *X[:-1]], max)),
    "by_thrust": [2.0 * v for v in accumulate(X, max)],
    "in_device_code": ALONE,
}
ROUNDED = {"squares"}
"""Sums beyond what fp32 holds exactly."""


@cache
def _ran() -> dict[tuple[str, Order], Ran]:
    store = Store(root=default_root())
    built = program(Candidate(source=SOURCE.read_text()), store)
    names = [*EXPECTED, "place_of_maximum", "sorted", "read_by_the_host"]
    asked = [(name, order) for name in names for order in Order]
    data = struct.pack(f"<{ELEMENTS}f", *X)
    calls = [
        EmulatedCall(entry=name, arguments=(SPEC,), contents=(data,), order=order, seed=5) for name, order in asked
    ]
    return dict(zip(asked, run(built, calls, gpu_named("h200"), store), strict=True))


def _result(name: str, order: Order) -> bytes:
    ran = _ran()[name, order]
    assert ran.report is not None, ran.ended
    assert (ran.report.outcome, ran.report.findings) == ("ran", ()), ran.report.what
    return ran.contents[max(ran.contents)]


@pytest.mark.parametrize("order", Order)
@pytest.mark.parametrize("name", EXPECTED)
def test_the_result_is_right(name: str, order: Order) -> None:
    expected = EXPECTED[name]
    found = struct.unpack_from(f"<{len(expected)}f", _result(name, order))
    near: Callable[[Sequence[float]], object] = pytest.approx if name in ROUNDED else list
    assert list(found) == near(expected)


def test_a_maximum_has_its_place() -> None:
    assert struct.unpack_from("<if", _result("place_of_maximum", Order.FORWARD)) == (X.index(max(X)), max(X))


@pytest.mark.parametrize(
    ("name", "reason"),
    [("sorted", "cub device-wide DeviceRadixSort::SortKeys"), ("read_by_the_host", "thrust::reduce by host code")],
)
def test_what_is_lacking_says_so(name: str, reason: str) -> None:
    ran = _ran()[name, Order.FORWARD]
    assert ran.report is not None
    assert ran.report.trace.outcome == "unsupported"
    assert ran.report.trace.what.startswith(reason)
