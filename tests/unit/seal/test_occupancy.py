"""Occupancy and limits against figures of the CUDA occupancy calculator and the programming guide."""

from __future__ import annotations

import pytest

from warpwright.core.gpus.table import GPUS
from warpwright.core.launch.plan import Kernel, Launch
from warpwright.seal.plans.occupancy import blocks_per_sm, occupancy, violations

H200, T4 = GPUS["h200"], GPUS["t4"]


def kernel(**facts: int) -> Kernel:
    return Kernel(name="k", symbol="k", parameters=(), **facts)  # type: ignore[arg-type]


def launch(**shape: object) -> Launch:
    return Launch(**({"kernel": "k", "grid": (1, 1, 1), "block": (256, 1, 1)} | shape))  # type: ignore[arg-type]


@pytest.mark.parametrize(
    ("registers", "threads", "shared", "blocks"),
    [
        (32, 256, 0, 8),
        (64, 256, 0, 4),
        (255, 256, 0, 1),
        (128, 512, 0, 1),
        (16, 64, 0, 32),
        (32, 128, 100 << 10, 2),
        (33, 1024, 0, 1),
    ],
)
def test_resident_blocks_on_hopper(registers: int, threads: int, shared: int, blocks: int) -> None:
    assert blocks_per_sm(H200, kernel(registers=registers), threads, shared) == blocks


def test_occupancy_is_the_share_of_warps() -> None:
    assert occupancy(H200, kernel(registers=64), launch()) == 0.5


@pytest.mark.parametrize(
    ("shape", "kind"),
    [
        ({"block": (1025, 1, 1)}, "block"),
        ({"block": (32, 33, 1)}, "block"),
        ({"block": (1, 1, 65)}, "block"),
        ({"block": (0, 1, 1)}, "block"),
        ({"grid": (0, 1, 1)}, "grid"),
        ({"grid": (1, 65536, 1)}, "grid"),
        ({"grid": (2**31, 1, 1)}, "grid"),
        ({"shared": 228 << 10}, "shared-memory"),
        ({"shared": 49 << 10}, "shared-memory"),
        ({"shared": -1}, "shared-memory"),
        ({"cluster": (16, 1, 1), "grid": (16, 1, 1)}, "cluster"),
        ({"cluster": (2, 1, 1), "grid": (3, 1, 1)}, "cluster"),
    ],
)
def test_what_the_driver_would_refuse(shape: dict[str, object], kind: str) -> None:
    assert kind in [found for found, _ in violations(H200, launch(**shape), None, {})]


@pytest.mark.parametrize(
    "shape",
    [
        {"block": (1024, 1, 1)},
        {"block": (4, 4, 64)},
        {"grid": (2**31 - 1, 65535, 65535)},
        {"shared": 48 << 10},
        {"cluster": (8, 1, 1), "grid": (8, 1, 1)},
    ],
)
def test_what_is_just_allowed(shape: dict[str, object]) -> None:
    assert not list(violations(H200, launch(**shape), kernel(registers=32), {}))


def test_opting_in_allows_more_shared_memory_and_larger_clusters() -> None:
    assert not list(violations(H200, launch(shared=200 << 10), None, {"max_dynamic_shared": 200 << 10}))
    wide = launch(cluster=(16, 1, 1), grid=(16, 1, 1))
    assert not list(violations(H200, wide, None, {"non_portable_cluster": 1}))
    assert list(violations(T4, launch(cluster=(2, 1, 1), grid=(2, 1, 1)), None, {}))


def test_limits_of_the_kernel_itself() -> None:
    assert [kind for kind, _ in violations(H200, launch(), kernel(max_threads=128), {})] == ["block"]
    crowded = launch(block=(1024, 1, 1))
    assert [kind for kind, _ in violations(H200, crowded, kernel(registers=128), {})] == ["registers"]
    assert [kind for kind, _ in violations(H200, launch(shared=40 << 10), kernel(static_shared=9 << 10), {})] == [
        "shared-memory"
    ]


def test_a_cooperative_grid_must_be_resident_at_once() -> None:
    fits = launch(cooperative=True, grid=(8 * 132, 1, 1))
    assert not list(violations(H200, fits, kernel(registers=32), {}))
    over = launch(cooperative=True, grid=(8 * 132 + 1, 1, 1))
    assert [kind for kind, _ in violations(H200, over, kernel(registers=32), {})] == ["cooperative"]
