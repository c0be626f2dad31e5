"""What a compiled kernel takes from the GPU is told to the writer who is to improve it."""

from __future__ import annotations

from warpwright.core.gpus.table import gpu_named
from warpwright.core.launch.plan import Kernel
from warpwright.propose.prompting.resources import resources
from warpwright.seal.summary import LaunchSummary, PlanSummary, Summary

NAME = "rows(float const*, float*)"


def summary(*cases: str, occupancy: float | None = 0.5) -> Summary:
    launch = LaunchSummary(
        kernel=NAME, grid=(528, 1, 1), block=(256, 1, 1), cluster=(1, 1, 1), shared=4096, cooperative=False,
        occupancy=occupancy,
    )  # fmt: skip
    plans = tuple(
        PlanSummary(
            case=case, entry="forward", launches=(launch,), library=("mm",), operations={"memset": 1, "copy": 0},
            scratch_buffers=0, scratch_bytes=0,
        )
        for case in cases
    )  # fmt: skip
    kernel = Kernel(name=NAME, symbol="r", parameters=(8, 8), registers=64, spill_stores=400, spill_loads=8)
    return Summary(id="s", entries=("forward",), kernels=(kernel,), plans=plans, seconds={})


def test_registers_spills_blocks_and_waves_are_told_for_the_timed_cases() -> None:
    kernel, *plans = resources(summary("a", "b"), frozenset({"b"}), gpu_named("h200")).split("\n")
    assert "64 registers" in kernel
    assert "spills 400 B in stores" in kernel
    # Half of 2048 threads are four blocks of 256; 528 blocks on 132 SMs are then one wave.
    assert plans == [
        "- b: rows: 528 blocks of 256 threads, 4096 B dynamic shared memory, 4 blocks per SM at once (50% occupancy),"
        " 1 waves; library: mm; 1 memset"
    ]


def test_an_unknown_occupancy_is_not_told() -> None:
    assert "occupancy" not in resources(summary("a", occupancy=None), frozenset({"a"}), gpu_named("h200"))


def test_a_kernel_that_no_timed_case_launches_is_not_told() -> None:
    assert resources(summary("a"), frozenset({"b"}), gpu_named("h200")) == ""
