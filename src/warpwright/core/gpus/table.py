"""The table of GPUs: peaks and limits of each, with the source of every figure.

Peaks are dense and accumulate in fp32, as honest error budgets require. Where two sources disagree the higher figure is
used, because a limit that can be exceeded is none. Limits of an architecture are those of the CUDA C++ Programming
Guide, "Technical Specifications per Compute Capability"; blocks per SM and the granularity of registers and shared
memory were also compared with the occupancy header of CUDA 13.0.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass

from warpwright.core.errors import UsageError

KIB = 1024


@dataclass(frozen=True, slots=True, kw_only=True)
class Architecture:
    """Limits of all GPUs of one compute capability. Sizes are in bytes unless stated otherwise."""

    name: str
    """The target of nvcc; the "a" form if only that has all instructions."""
    capability: tuple[int, int]
    threads_per_sm: int
    blocks_per_sm: int
    shared_per_sm: int
    shared_per_block_optin: int
    shared_reserved_per_block: int = KIB
    shared_granularity: int = 128
    cluster_blocks: int = 1
    """Blocks of a cluster without opting in to more; 1 without support for clusters."""
    shared_per_block: int = 48 * KIB
    registers_per_sm: int = 65536
    registers_per_block: int = 65536
    register_granularity: int = 256
    """Registers are allocated to a warp in multiples of this number."""
    threads_per_warp: int = 32
    threads_per_block: int = 1024
    max_block: tuple[int, int, int] = (1024, 1024, 64)
    max_grid: tuple[int, int, int] = (2**31 - 1, 65535, 65535)

    @property
    def has_clusters(self) -> bool:
        """Whether blocks of a cluster can read and write each other's shared memory."""
        return self.cluster_blocks > 1

    @property
    def has_programmatic_launch(self) -> bool:
        """Whether a kernel may be launched before the previous one of its stream has ended."""
        return self.capability >= (9, 0)

    @property
    def has_async_copies(self) -> bool:
        """Whether threads copy from global to shared memory without registers in between (cp.async)."""
        return self.capability >= (8, 0)


@dataclass(frozen=True, slots=True, kw_only=True)
class Gpu:
    """One product. Peaks are in TFLOP/s (TOP/s for int8); a precision without matrix units has no entry."""

    name: str
    title: str
    """The name that the driver reports."""
    architecture: Architecture
    sms: int
    clock_mhz: int
    """The highest boost clock."""
    memory_gb: float
    bandwidth_gbs: float
    l2_mb: float
    fp32: float
    """The peak of CUDA cores."""
    fp64: float
    """The peak of CUDA cores."""
    matrix: Mapping[str, float]
    """Peaks of matrix units by precision: fp64, tf32, fp16, bf16, fp8, int8."""
    source: str

    @property
    def arch(self) -> str:
        return self.architecture.name


_SM75 = Architecture(
    name="sm_75",
    capability=(7, 5),
    threads_per_sm=1024,
    blocks_per_sm=16,
    shared_per_sm=64 * KIB,
    shared_per_block_optin=64 * KIB,
    shared_reserved_per_block=0,
    shared_granularity=256,
)
_SM80 = Architecture(
    name="sm_80",
    capability=(8, 0),
    threads_per_sm=2048,
    blocks_per_sm=32,
    shared_per_sm=164 * KIB,
    shared_per_block_optin=163 * KIB,
)
_SM86 = Architecture(
    name="sm_86",
    capability=(8, 6),
    threads_per_sm=1536,
    blocks_per_sm=16,
    shared_per_sm=100 * KIB,
    shared_per_block_optin=99 * KIB,
)
_SM89 = Architecture(
    name="sm_89",
    capability=(8, 9),
    threads_per_sm=1536,
    blocks_per_sm=24,
    shared_per_sm=100 * KIB,
    shared_per_block_optin=99 * KIB,
)
_SM90 = Architecture(
    name="sm_90a",
    capability=(9, 0),
    threads_per_sm=2048,
    blocks_per_sm=32,
    shared_per_sm=228 * KIB,
    shared_per_block_optin=227 * KIB,
    cluster_blocks=8,
)
_SM100 = Architecture(
    name="sm_100a",
    capability=(10, 0),
    threads_per_sm=2048,
    blocks_per_sm=32,
    shared_per_sm=228 * KIB,
    shared_per_block_optin=227 * KIB,
    cluster_blocks=8,
)
_SM120 = Architecture(
    name="sm_120a",
    capability=(12, 0),
    threads_per_sm=1536,
    blocks_per_sm=24,
    shared_per_sm=100 * KIB,
    shared_per_block_optin=99 * KIB,
    cluster_blocks=8,
)

_A100_MATRIX = {"fp64": 19.5, "tf32": 156.0, "fp16": 312.0, "bf16": 312.0, "int8": 624.0}
_HOPPER_MATRIX = {"fp64": 66.9, "tf32": 494.7, "fp16": 989.4, "bf16": 989.4, "fp8": 1978.9, "int8": 1978.9}

GPUS: dict[str, Gpu] = {
    gpu.name: gpu
    for gpu in (
        Gpu(
            name="t4",
            title="Tesla T4",
            architecture=_SM75,
            sms=40,
            clock_mhz=1590,
            memory_gb=16,
            bandwidth_gbs=320,
            l2_mb=4,
            fp32=8.1,
            fp64=0.25,
            matrix={"fp16": 65.0, "int8": 130.0},
            source="NVIDIA T4 datasheet; Turing architecture whitepaper",
        ),
        Gpu(
            name="a10g",
            title="NVIDIA A10G",
            architecture=_SM86,
            sms=80,
            clock_mhz=1710,
            memory_gb=24,
            bandwidth_gbs=600,
            l2_mb=6,
            fp32=35.0,
            fp64=0.55,
            matrix={"tf32": 35.0, "fp16": 70.0, "bf16": 70.0, "int8": 140.0},
            source="NVIDIA A10G datasheet; SMs and L2 as the driver reports them",
        ),
        Gpu(
            name="l4",
            title="NVIDIA L4",
            architecture=_SM89,
            sms=58,
            clock_mhz=2040,
            memory_gb=24,
            bandwidth_gbs=300,
            l2_mb=48,
            fp32=30.3,
            fp64=0.47,
            matrix={"tf32": 60.5, "fp16": 121.0, "bf16": 121.0, "fp8": 242.5, "int8": 242.5},
            source="NVIDIA L4 datasheet, figures with sparsity halved; Ada architecture whitepaper",
        ),
        Gpu(
            name="a100-40gb",
            title="NVIDIA A100-SXM4-40GB",
            architecture=_SM80,
            sms=108,
            clock_mhz=1410,
            memory_gb=40,
            bandwidth_gbs=1555,
            l2_mb=40,
            fp32=19.5,
            fp64=9.7,
            matrix=_A100_MATRIX,
            source="NVIDIA A100 datasheet; A100 architecture whitepaper",
        ),
        Gpu(
            name="a100-80gb",
            title="NVIDIA A100-SXM4-80GB",
            architecture=_SM80,
            sms=108,
            clock_mhz=1410,
            memory_gb=80,
            bandwidth_gbs=2039,
            l2_mb=40,
            fp32=19.5,
            fp64=9.7,
            matrix=_A100_MATRIX,
            source="NVIDIA A100 datasheet; A100 architecture whitepaper",
        ),
        Gpu(
            name="l40s",
            title="NVIDIA L40S",
            architecture=_SM89,
            sms=142,
            clock_mhz=2520,
            memory_gb=48,
            bandwidth_gbs=864,
            l2_mb=96,
            fp32=91.6,
            fp64=1.43,
            matrix={"tf32": 183.0, "fp16": 362.0, "bf16": 362.0, "fp8": 733.0, "int8": 733.0},
            source="NVIDIA L40S datasheet; Ada architecture whitepaper",
        ),
        Gpu(
            name="rtx3090",
            title="NVIDIA GeForce RTX 3090",
            architecture=_SM86,
            sms=82,
            clock_mhz=1695,
            memory_gb=24,
            bandwidth_gbs=936,
            l2_mb=6,
            fp32=35.6,
            fp64=0.56,
            matrix={"tf32": 35.6, "fp16": 71.2, "bf16": 71.2, "int8": 284.7},
            source="NVIDIA GA102 architecture whitepaper",
        ),
        Gpu(
            name="rtx4090",
            title="NVIDIA GeForce RTX 4090",
            architecture=_SM89,
            sms=128,
            clock_mhz=2520,
            memory_gb=24,
            bandwidth_gbs=1008,
            l2_mb=72,
            fp32=82.6,
            fp64=1.29,
            matrix={"tf32": 82.6, "fp16": 165.2, "bf16": 165.2, "fp8": 330.3, "int8": 660.6},
            source="NVIDIA Ada architecture whitepaper, appendix on the RTX 4090",
        ),
        Gpu(
            name="rtx5090",
            title="NVIDIA GeForce RTX 5090",
            architecture=_SM120,
            sms=170,
            clock_mhz=2407,
            memory_gb=32,
            bandwidth_gbs=1792,
            l2_mb=96,
            fp32=104.8,
            fp64=1.64,
            matrix={"tf32": 104.8, "fp16": 209.5, "bf16": 209.5, "fp8": 419.0, "int8": 838.0},
            source="NVIDIA RTX Blackwell architecture whitepaper, appendix on the RTX 5090",
        ),
        Gpu(
            name="h100",
            title="NVIDIA H100 80GB HBM3",
            architecture=_SM90,
            sms=132,
            clock_mhz=1980,
            memory_gb=80,
            bandwidth_gbs=3352,
            l2_mb=50,
            fp32=66.9,
            fp64=33.5,
            matrix=_HOPPER_MATRIX,
            source="NVIDIA H100 datasheet (SXM5); H100 architecture whitepaper",
        ),
        Gpu(
            name="h200",
            title="NVIDIA H200",
            architecture=_SM90,
            sms=132,
            clock_mhz=1980,
            memory_gb=141,
            bandwidth_gbs=4800,
            l2_mb=60,
            fp32=66.9,
            fp64=33.5,
            matrix=_HOPPER_MATRIX,
            source="NVIDIA H200 datasheet (SXM); L2 as the driver reports it",
        ),
        Gpu(
            name="b200",
            title="NVIDIA B200",
            architecture=_SM100,
            sms=148,
            clock_mhz=1965,
            memory_gb=180,
            bandwidth_gbs=8000,
            l2_mb=126,
            fp32=75.0,
            fp64=37.0,
            matrix={"fp64": 37.0, "tf32": 1125.0, "fp16": 2250.0, "bf16": 2250.0, "fp8": 4500.0, "int8": 4500.0},
            source="NVIDIA DGX B200 datasheet, one of eight, sparsity halved; SMs and L2 as the driver reports them",
        ),
    )
}


def gpu_named(text: str) -> Gpu:
    """Finds a GPU by our name, the driver's name, or an unambiguous prefix of ours."""
    wanted = _bare(text)
    exact = [gpu for gpu in GPUS.values() if wanted in (_bare(gpu.name), _bare(gpu.title))]
    found = exact or [gpu for gpu in GPUS.values() if wanted and _bare(gpu.name).startswith(wanted)]
    if len(found) != 1:
        choice = ", ".join(gpu.name for gpu in found or GPUS.values())
        raise UsageError(f"'{text}' {'is more than one GPU' if found else 'is not a GPU we know'}; one of {choice}")
    return found[0]


def _bare(text: str) -> str:
    return re.sub(r"nvidia|geforce|tesla|[^a-z0-9]", "", text.lower())
