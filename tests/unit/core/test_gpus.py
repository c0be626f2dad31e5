"""The table of GPUs is consistent and is found by the names in use."""

from __future__ import annotations

import pytest

from warpwright.core.errors import UsageError
from warpwright.core.gpus.table import GPUS, Gpu, gpu_named

EVERY = pytest.mark.parametrize("gpu", GPUS.values(), ids=GPUS)
WANTED = "t4 a10g l4 a100-40gb a100-80gb l40s rtx3090 rtx4090 rtx5090 h100 h200 b200"
LANES = {(7, 5): 64, (8, 0): 64}
"""fp32 lanes per SM, for GPUs where it is not 128."""


def test_common_gpus_are_in_the_table() -> None:
    assert set(WANTED.split()) <= GPUS.keys()


@EVERY
def test_the_fp32_peak_is_lanes_times_clock(gpu: Gpu) -> None:
    """Two operations per lane and clock: detects a wrong number of SMs, clock or peak."""
    lanes = LANES.get(gpu.architecture.capability, 128)
    assert gpu.fp32 == pytest.approx(2 * lanes * gpu.sms * gpu.clock_mhz * 1e6 / 1e12, rel=0.02)


@EVERY
def test_a_narrower_precision_is_never_slower(gpu: Gpu) -> None:
    order = [gpu.matrix[name] for name in ("fp64", "tf32", "fp16", "fp8") if name in gpu.matrix]
    assert order == sorted(order)
    assert gpu.matrix.get("bf16", gpu.matrix["fp16"]) == gpu.matrix["fp16"]
    assert gpu.matrix["int8"] >= 2 * gpu.matrix["fp16"] * 0.99
    assert gpu.matrix.keys() <= {"fp64", "tf32", "fp16", "bf16", "fp8", "int8"}


@EVERY
def test_limits_of_the_architecture_are_consistent(gpu: Gpu) -> None:
    arch = gpu.architecture
    assert gpu.arch.startswith(f"sm_{arch.capability[0]}{arch.capability[1]}")
    assert arch.threads_per_sm % arch.threads_per_warp == 0
    assert arch.threads_per_block <= arch.threads_per_sm
    assert arch.shared_per_block < arch.shared_per_block_optin <= arch.shared_per_sm
    assert arch.shared_per_block_optin + arch.shared_reserved_per_block == arch.shared_per_sm
    assert gpu.source


@pytest.mark.parametrize(
    ("text", "name"),
    [
        ("h200", "h200"),
        ("NVIDIA H200", "h200"),
        ("NVIDIA H100 80GB HBM3", "h100"),
        ("RTX 4090", "rtx4090"),
        ("NVIDIA GeForce RTX 5090", "rtx5090"),
        ("Tesla T4", "t4"),
        ("L4", "l4"),
        ("l40", "l40s"),
        ("NVIDIA A100-SXM4-80GB", "a100-80gb"),
        ("a100-40", "a100-40gb"),
    ],
)
def test_a_gpu_is_found_by_common_names(text: str, name: str) -> None:
    assert gpu_named(text).name == name


@pytest.mark.parametrize("text", ["", "NVIDIA", "h300", "a100", "rtx", "banana"])
def test_an_unknown_or_ambiguous_name_is_a_usage_error(text: str) -> None:
    with pytest.raises(UsageError, match="one of "):
        gpu_named(text)
