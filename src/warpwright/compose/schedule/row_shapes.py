"""Classifies row shapes for the target: few and long rows, rows too long for a block, and capacities of the chip."""

from __future__ import annotations

from warpwright.compose.ir.sizes import Cases, Size
from warpwright.core.gpus.table import KIB, Gpu

LONG = 16384
"""The least row length that is worth a second kernel."""
MOST_THREADS, MOST_ITEMS = 1024, 8
"""Threads of the largest block, and packs that each thread can keep in registers."""
PACK_BYTES = 16


def few(gpu: Gpu) -> int:
    """Fewer rows than this cannot fill a GPU with one block each."""
    return gpu.sms


def is_few_and_long(rows: Size, columns: Size, cases: Cases, gpu: Gpu) -> bool:
    """Whether any timed case has many long rows."""
    return any(rows.values[case] < few(gpu) and columns.values[case] >= LONG for case in cases.timed)


def is_too_long(columns: Size, cases: Cases) -> bool:
    """Whether rows of any timed case exceed the registers of a block, which are the same on every GPU."""
    longest = MOST_THREADS * MOST_ITEMS * PACK_BYTES
    return any(columns.values[case] * cases.widths[case] > longest for case in cases.timed)


def shared_packs(gpu: Gpu) -> int:
    """The packs that each of 1024 threads can keep in shared memory besides the reductions' memory; 0 if the GPU has no
    asynchronous copies."""
    room = gpu.architecture.shared_per_block_optin - 8 * KIB
    return room // (MOST_THREADS * PACK_BYTES) if gpu.architecture.has_async_copies else 0


def cached_bytes(gpu: Gpu) -> int:
    """The bytes that stay in L2: two thirds of it, since other data passes through."""
    return int(gpu.l2_mb * 2 / 3) << 20
