"""Returns unused memory to the GPU, which the judge, the candidate and the baselines share."""

from __future__ import annotations

import gc

import torch

SPARE_BYTES = 1 << 30
"""Unused bytes that stay with torch's allocator: returning memory to the driver is slow."""


def drop_cycles() -> None:
    """Frees reference cycles if much memory is held: autograd graphs and compiled functions form them."""
    if torch.cuda.memory_allocated() > SPARE_BYTES:
        gc.collect()


def make_room() -> None:
    if torch.cuda.memory_reserved() - torch.cuda.memory_allocated() > SPARE_BYTES:
        torch.cuda.empty_cache()
