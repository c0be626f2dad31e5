"""Computes the time that each resource of a GPU alone would take for one launch, with the underlying figure.

Bandwidths are those of the whole chip. Work of SMs is spread over SMs with blocks: a grid that does not fill the last
wave leaves some idle. Reads are compulsory as far as blocks read different memory; repeated reads of a block come from
the L1 or L2 if the resident blocks' data fits.
"""

from __future__ import annotations

import math
from collections.abc import Iterator
from dataclasses import dataclass

from warpwright.core.gpus.limit import matrix_peak
from warpwright.core.gpus.table import Gpu
from warpwright.core.launch.plan import Kernel, Launch
from warpwright.emulate.cost.constants import (
    L1_SECTORS_PER_CLOCK,
    LANES,
    SECTOR_BYTES,
    SHARED_WAVEFRONTS_PER_CLOCK,
    WARPS_ISSUED_PER_CLOCK,
    Calibrated,
)
from warpwright.emulate.cost.counting import LaunchCount
from warpwright.seal.plans.occupancy import blocks_per_sm


@dataclass(frozen=True, slots=True, kw_only=True)
class Term:
    """One resource: its busy time, with the amount, the unit and the rate per second."""

    name: str
    seconds: float
    amount: float
    unit: str
    rate: float


@dataclass(frozen=True, slots=True, kw_only=True)
class Work:
    """One launch with the inputs of its terms."""

    launch: Launch
    count: LaunchCount
    kernel: Kernel
    gpu: Gpu
    constants: Calibrated
    footprint: int
    """Bytes of the buffers that it can access."""
    readable: int
    """Bytes of these buffers without results."""
    cold: float = 1.0
    """The fraction of these bytes that earlier nodes have not left in the L2."""
    operations: float = 0.0
    """Operations on CUDA cores."""
    precision: str = "fp32"

    @property
    def blocks(self) -> int:
        return math.prod(self.launch.grid)

    @property
    def threads(self) -> int:
        return math.prod(self.launch.block)

    @property
    def resident(self) -> int:
        """The resident blocks of one SM; at least one, since the kernel was launched."""
        return max(blocks_per_sm(self.gpu, self.kernel, self.threads, self.launch.shared), 1)

    @property
    def at_once(self) -> int:
        return min(self.blocks, self.resident * self.gpu.sms)

    @property
    def balance(self) -> float:
        """The fraction of the SMs' time with work, if blocks are distributed one by one."""
        return self.blocks / (math.ceil(self.blocks / self.gpu.sms) * self.gpu.sms)

    @property
    def clocks(self) -> float:
        """Clocks per second of all SMs together."""
        return self.gpu.clock_mhz * 1e6 * self.gpu.sms * self.balance

    def counted(self, *names: str) -> float:
        return sum(self.count.counters.get(name, 0.0) for name in names)

    @property
    def first_bytes(self) -> float:
        """The bytes that all blocks read, counting every sector once per block."""
        return SECTOR_BYTES * self.counted("unique_load_sectors")

    @property
    def block_bytes(self) -> float:
        """The bytes that one block reads and may read again soon, counting every sector once."""
        sectors = self.count.block_sectors
        everything = self.counted("load_sectors") / max(self.blocks, 1)
        return SECTOR_BYTES * (everything if sectors is None else min(sectors, everything))


def terms(work: Work) -> Iterator[Term]:
    """Yields every possible bottleneck of a launch."""
    yield dram(work)
    yield _latency(work)
    yield _l2(work)
    yield _l1(work)
    yield _on_sms(work, "shared memory", work.counted("shared_wavefronts"), "wavefronts", SHARED_WAVEFRONTS_PER_CLOCK)
    yield _on_sms(work, "instructions", _instructions(work), "warp instructions", WARPS_ISSUED_PER_CLOCK)
    yield _arithmetic(work)
    yield _matrix(work)
    atomics = work.counted("atomics") + LANES * work.counted("atomic_conflicts")
    yield _on_sms(work, "atomics", atomics, "atomic operations", work.constants.atomics_per_clock)
    yield _barriers(work)


def dram_reads(work: Work) -> float:
    """Bytes read from DRAM: every sector once, and again those that other blocks read and the L2 could not keep."""
    compulsory = min(work.first_bytes, work.readable)
    keeps = work.gpu.l2_mb * 1e6 * work.constants.l2_share
    together = work.at_once * work.block_bytes
    rounds = math.ceil(work.blocks / work.at_once)
    by_blocks = min(work.first_bytes, rounds * min(work.readable, together))
    by_others = max(by_blocks - compulsory, 0.0) * _lost(keeps, work.readable)
    by_itself = max(work.counted("load_sectors") * SECTOR_BYTES - work.first_bytes, 0.0)
    return compulsory * work.cold + by_others + by_itself * _lost(keeps, min(together, work.readable))


def _lost(room: float, wanted: float) -> float:
    """The fraction of data that does not fit."""
    return max(1.0 - max(room, 0.0) / wanted, 0.0) if wanted else 0.0


def dram_writes(work: Work) -> float:
    return min(work.counted("unique_store_sectors") * SECTOR_BYTES, work.footprint)


def dram(work: Work) -> Term:
    rate = work.gpu.bandwidth_gbs * 1e9 * work.constants.dram_efficiency
    return term_of("DRAM bandwidth", dram_reads(work) + dram_writes(work), "bytes", rate)


def _latency(work: Work) -> Term:
    """Little's law: the data in flight over the latency."""
    loads, threads = work.counted("global_loads"), max(work.counted("threads"), 1.0)
    per_load = work.counted("global_load_bytes") / loads if loads else 0.0
    deep = min(work.constants.outstanding_loads, max(loads / threads, 1.0))
    useful = work.counted("global_load_bytes") / max(work.counted("load_sectors") * SECTOR_BYTES, 1.0)
    flying = work.at_once * work.threads * deep * per_load / max(min(useful, 1.0), 1.0 / LANES)
    rate = flying / (work.constants.dram_latency_ns * 1e-9)
    return term_of("memory latency", dram_reads(work), "bytes", rate)


def _l2(work: Work) -> Term:
    """L1 misses: repeatedly read memory stays in the L1 as far as it fits."""
    everything = work.counted("load_sectors") * SECTOR_BYTES
    first = min(work.first_bytes, everything)
    arch = work.gpu.architecture
    room = arch.shared_per_sm - work.resident * (work.kernel.static_shared + work.launch.shared)
    wanted = work.resident * work.block_bytes
    stores = work.counted("store_sectors") * SECTOR_BYTES
    amount = first + _lost(room, wanted) * (everything - first) + stores + _spilled(work)
    return _on_sms(work, "L2 bandwidth", amount, "bytes", work.constants.l2_bytes_per_clock)


def _l1(work: Work) -> Term:
    requests = work.counted("load_requests", "store_requests")
    sectors = work.counted("load_sectors", "store_sectors") + _spilled(work) / SECTOR_BYTES
    return _on_sms(work, "L1 bandwidth", max(sectors, requests), "sectors", L1_SECTORS_PER_CLOCK)


def _spilled(work: Work) -> float:
    """Bytes of spilled registers, stored and loaded once per thread."""
    return float((work.kernel.spill_stores or 0) + (work.kernel.spill_loads or 0)) * work.counted("threads")


def _instructions(work: Work) -> float:
    outside = work.counted("load_requests", "store_requests", "atomic_requests")
    inside = work.counted("shared_requests")
    constants = work.constants
    return (
        outside * constants.instructions_per_global
        + inside * constants.instructions_per_shared
        + work.counted("collectives")
        + work.operations / (2 * LANES)
    )


def _arithmetic(work: Work) -> Term:
    peak = (work.gpu.fp64 if work.precision == "fp64" else work.gpu.fp32) * 1e12
    return term_of("arithmetic", work.operations, "operations", peak * work.balance)


def _matrix(work: Work) -> Term:
    peak = matrix_peak(work.gpu, work.precision, tf32=True) * 1e12 * work.constants.matrix_efficiency
    return term_of("matrix units", work.counted("mma_flops"), "operations", peak * work.balance)


def _barriers(work: Work) -> Term:
    """Barriers: each makes a block wait, while the other blocks of the SM continue."""
    rate = work.clocks * work.resident / work.constants.barrier_clocks
    return term_of("barriers", work.counted("barriers"), "barriers", rate)


def _on_sms(work: Work, name: str, amount: float, unit: str, per_clock: float) -> Term:
    return term_of(name, amount, unit, work.clocks * per_clock)


def term_of(name: str, amount: float, unit: str, rate: float) -> Term:
    """The term of an amount at a rate per second; an unknown rate takes no time."""
    return Term(name=name, seconds=amount / rate if amount and rate else 0.0, amount=amount, unit=unit, rate=rate)
