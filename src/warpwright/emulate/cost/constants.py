"""The constants of the cost model, each with its source.

Those of `Calibrated` are initial values until `bench/calibrate.py` has fitted them to measurements of a GPU; the fitted
values are in calibrated.json, by the name of the GPU. Peaks and sizes of GPUs are in core/gpus.
"""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import dataclass, fields
from functools import cache
from pathlib import Path

SECTOR_BYTES = 32
"""The unit of memory transfers. CUDA C++ Best Practices Guide, "Coalesced Access to Global Memory"."""
L1_SECTORS_PER_CLOCK = 4.0
"""128 bytes a clock and SM. NVIDIA H100 and A100 architecture whitepapers."""
SHARED_WAVEFRONTS_PER_CLOCK = 1.0
"""32 banks of 4 bytes a clock and SM. CUDA C++ Programming Guide, "Shared Memory"."""
WARPS_ISSUED_PER_CLOCK = 4.0
"""Four schedulers an SM, one instruction each. NVIDIA architecture whitepapers, Volta to Blackwell."""
LANES = 32
DATA = Path(__file__).parent / "calibrated.json"


@dataclass(frozen=True, slots=True, kw_only=True)
class Calibrated:
    """Constants to be fitted to measurements. The values here are the initial values of a fit."""

    dram_efficiency: float = 0.90
    """The fraction of the peak that a large copy reaches: 4.3 of 4.8 TB/s measured on an H200."""
    l2_bytes_per_clock: float = 32.0
    """For each SM. The A100 whitepaper gives 5120 bytes a clock for 108 SMs at best; kernels reach about two thirds."""
    l2_share: float = 0.8
    """The fraction of the L2 that holds a kernel's own data."""
    dram_latency_ns: float = 700.0
    """The time from request to data under load."""
    outstanding_loads: float = 4.0
    """The loads of one thread that are in flight at the same time, if it has so many."""
    instructions_per_global: float = 4.0
    """Instructions for each access of a warp to global memory: address, conversion, arithmetic, loop."""
    instructions_per_shared: float = 2.0
    atomics_per_clock: float = 1.0
    """Atomic operations of single lanes per clock and SM."""
    barrier_clocks: float = 40.0
    matrix_efficiency: float = 0.60
    """The fraction of the matrix units' peak that hand-written products reach."""
    library_efficiency: float = 0.75
    """The fraction of that peak that large library products reach: 770 to 800 of 989 TFLOP/s measured on an H200."""
    launch_us: float = 2.0
    """The time until the first block of the first kernel starts, and from its last block to the end."""
    next_node_us: float = 1.2
    """The same for every further node of a graph."""
    overlap: float = 4.0
    """How well resources overlap: the exponent of the norm; infinite would be the slowest resource alone."""


NAMES = tuple(field.name for field in fields(Calibrated))


@cache
def calibrated(gpu: str) -> Calibrated:
    """The constants fitted for this GPU; initial values for the others."""
    return calibrated_from(json.loads(DATA.read_text()), gpu)


def calibrated_from(data: Mapping[str, Mapping[str, float]], gpu: str) -> Calibrated:
    return Calibrated(**{name: float(value) for name, value in data.get(gpu, {}).items() if name in NAMES})
