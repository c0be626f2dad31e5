"""The figures that the cost model rests on, each with its source.

Those of `Calibrated` are starting values until `bench/calibrate.py` has fitted them to measurements of a GPU; what it
found is in calibrated.json, by the name of the GPU. Peaks and sizes of GPUs are in core/gpus.py.
"""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import dataclass, fields
from functools import cache
from pathlib import Path

SECTOR_BYTES = 32
"""What memory is fetched in. CUDA C++ Best Practices Guide, "Coalesced Access to Global Memory"."""
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
    """Fitted to measurements, or waiting for them. The values here are where a fit starts."""

    dram_efficiency: float = 0.90
    """Share of the peak that a large copy reaches: 4.3 of 4.8 TB/s measured on an H200."""
    l2_bytes_per_clock: float = 32.0
    """For each SM. The A100 whitepaper gives 5120 bytes a clock for 108 SMs at best; kernels reach about two thirds."""
    l2_share: float = 0.8
    """How much of the L2 a kernel's own data gets to keep."""
    dram_latency_ns: float = 700.0
    """From request to data under load."""
    outstanding_loads: float = 4.0
    """Loads of one thread that are under way at the same time, where it has so many."""
    instructions_per_global: float = 4.0
    """Instructions for each access of a warp to global memory: address, conversion, arithmetic, loop."""
    instructions_per_shared: float = 2.0
    atomics_per_clock: float = 1.0
    """Of single lanes, for each SM."""
    barrier_clocks: float = 40.0
    matrix_efficiency: float = 0.60
    """Share of the matrix units' peak that hand-written products reach."""
    library_efficiency: float = 0.75
    """Share of that peak that library products reach: 770 to 800 of 989 TFLOP/s measured on an H200, large ones."""
    launch_us: float = 2.0
    """Until the first block of the first kernel works, and from its last block to the end."""
    next_node_us: float = 1.2
    """The same for every further node of a graph."""
    overlap: float = 4.0
    """How well resources work side by side: the exponent of the sum; infinite would be the slowest alone."""


NAMES = tuple(field.name for field in fields(Calibrated))


@cache
def calibrated(gpu: str) -> Calibrated:
    """What was fitted for this GPU; starting values where nothing was."""
    return calibrated_from(json.loads(DATA.read_text()), gpu)


def calibrated_from(data: Mapping[str, Mapping[str, float]], gpu: str) -> Calibrated:
    return Calibrated(**{name: float(value) for name, value in data.get(gpu, {}).items() if name in NAMES})
