"""Shapes of rows that decide between kinds of kernels: few and long ones, and those that no block keeps."""

from __future__ import annotations

from warpwright.compose.ir.sizes import Cases, Size

FEW, LONG = 132, 16384
"""Fewer rows than this cannot fill a GPU with one block each, and shorter ones are not worth a second kernel."""
MOST_THREADS, MOST_ITEMS = 1024, 8
"""Threads of the largest block, and packs that each of them keeps without running out of registers."""


def is_few_and_long(rows: Size, columns: Size, cases: Cases) -> bool:
    """In any case that is timed."""
    return any(rows.values[case] < FEW and columns.values[case] >= LONG for case in cases.timed)


def is_too_long(columns: Size, cases: Cases) -> bool:
    """For the registers of a block, in any case that is timed."""
    return any(columns.values[case] * cases.widths[case] > MOST_THREADS * MOST_ITEMS * 16 for case in cases.timed)
