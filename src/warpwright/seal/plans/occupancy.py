"""Computes how many blocks of a kernel fit on a multiprocessor, and the limits of a launch."""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping
from dataclasses import replace

from warpwright.core.gpus.table import Gpu
from warpwright.core.launch.plan import Kernel, Launch

_SCHEDULERS = 4
_MOST_PARAMETER_BYTES = 32764
_NON_PORTABLE_CLUSTER = 16


def blocks_per_sm(gpu: Gpu, kernel: Kernel, threads: int, dynamic_shared: int) -> int:
    """The resident blocks on one multiprocessor; 0 if the kernel cannot run with so many threads."""
    arch = gpu.architecture
    warps = -(-threads // arch.threads_per_warp)
    limits = [arch.blocks_per_sm, arch.threads_per_sm // (warps * arch.threads_per_warp)]
    if kernel.registers:
        step = arch.register_granularity
        per_warp = -(-kernel.registers * arch.threads_per_warp // step) * step
        limits.append(arch.registers_per_sm // _SCHEDULERS // per_warp * _SCHEDULERS // warps)
    shared = kernel.static_shared + dynamic_shared + arch.shared_reserved_per_block
    if shared:
        limits.append(arch.shared_per_sm // (-(-shared // arch.shared_granularity) * arch.shared_granularity))
    return min(limits)


def occupancy(gpu: Gpu, kernel: Kernel, launch: Launch) -> float:
    """The fraction of a multiprocessor's warps that this launch can keep resident."""
    arch = gpu.architecture
    threads = math.prod(launch.block)
    warps = -(-threads // arch.threads_per_warp) * blocks_per_sm(gpu, kernel, threads, launch.shared)
    return warps / (arch.threads_per_sm // arch.threads_per_warp)


def violations(
    gpu: Gpu, launch: Launch, kernel: Kernel | None, attributes: Mapping[str, int]
) -> Iterator[tuple[str, str]]:
    """Yields a kind and a sentence for each limit of the driver that the launch exceeds."""
    yield from _shape(gpu, launch)
    yield from _cluster(gpu, launch, attributes)
    static = kernel.static_shared if kernel else 0
    yield from _shared(gpu, launch, static, attributes)
    if kernel is not None:
        yield from _resources(gpu, launch, kernel)


def _shape(gpu: Gpu, launch: Launch) -> Iterator[tuple[str, str]]:
    arch = gpu.architecture
    for axis, size, most in zip("xyz", launch.block, arch.max_block, strict=True):
        if not 1 <= size <= most:
            yield "block", f"the block is {size} in {axis}; between 1 and {most} are allowed"
    if math.prod(launch.block) > arch.threads_per_block:
        yield "block", f"the block has {math.prod(launch.block)} threads; {arch.threads_per_block} are allowed"
    for axis, size, most in zip("xyz", launch.grid, arch.max_grid, strict=True):
        if not 1 <= size <= most:
            yield "grid", f"the grid is {size} in {axis}; between 1 and {most} are allowed"


def _cluster(gpu: Gpu, launch: Launch, attributes: Mapping[str, int]) -> Iterator[tuple[str, str]]:
    blocks = math.prod(launch.cluster)
    portable = gpu.architecture.cluster_blocks
    most = _NON_PORTABLE_CLUSTER if portable > 1 and attributes.get("non_portable_cluster") else portable
    if not 1 <= blocks <= most:
        yield "cluster", f"the cluster has {blocks} blocks; {most} are allowed on {gpu.name}"
    elif any(grid % cluster for grid, cluster in zip(launch.grid, launch.cluster, strict=True)):
        yield "cluster", f"the grid {launch.grid} is not a multiple of the cluster {launch.cluster}"


def _shared(gpu: Gpu, launch: Launch, static: int, attributes: Mapping[str, int]) -> Iterator[tuple[str, str]]:
    arch = gpu.architecture
    total = static + launch.shared
    allowed = max(arch.shared_per_block, static + attributes.get("max_dynamic_shared", 0))
    if launch.shared < 0 or total > arch.shared_per_block_optin:
        yield (
            "shared-memory",
            f"{total} bytes of shared memory per block; {gpu.name} has {arch.shared_per_block_optin}",
        )
    elif total > allowed:
        yield (
            "shared-memory",
            f"{total} bytes of shared memory per block need cudaFuncAttributeMaxDynamicSharedMemorySize; "
            f"without it {arch.shared_per_block} are allowed",
        )


def _resources(gpu: Gpu, launch: Launch, kernel: Kernel) -> Iterator[tuple[str, str]]:
    threads = math.prod(launch.block)
    if kernel.max_threads is not None and threads > kernel.max_threads:
        yield "block", f"the block has {threads} threads; the kernel's launch bounds allow {kernel.max_threads}"
    elif threads and threads <= gpu.architecture.threads_per_block:
        resident = blocks_per_sm(gpu, kernel, threads, max(launch.shared, 0))
        if blocks_per_sm(gpu, replace(kernel, static_shared=0), threads, 0) == 0:
            yield "registers", f"{kernel.registers} registers for each of {threads} threads are too many for a block"
        elif launch.cooperative and math.prod(launch.grid) > resident * gpu.sms:
            blocks = math.prod(launch.grid)
            yield (
                "cooperative",
                f"a cooperative grid of {blocks} blocks; {resident * gpu.sms} fit on {gpu.name} at once",
            )
    if sum(kernel.parameters) > _MOST_PARAMETER_BYTES:
        yield "parameters", f"{sum(kernel.parameters)} bytes of parameters; {_MOST_PARAMETER_BYTES} are allowed"
