"""Returns unused memory to the GPU, which the judge, the candidate and the baselines share."""

from __future__ import annotations

import torch

SPARE_BYTES = 1 << 30
"""Unused bytes that stay with torch's allocator: returning memory to the driver is slow."""


def make_room() -> None:
    if torch.cuda.memory_reserved() - torch.cuda.memory_allocated() > SPARE_BYTES:
        torch.cuda.empty_cache()
