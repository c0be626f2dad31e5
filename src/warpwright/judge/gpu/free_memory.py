"""The card is shared by the judge, the candidate and its rivals: what nobody needs any more is given back."""

from __future__ import annotations

import torch

SPARE_BYTES = 1 << 30
"""Giving back takes a while, so this much is kept for the next time."""


def make_room() -> None:
    if torch.cuda.memory_reserved() - torch.cuda.memory_allocated() > SPARE_BYTES:
        torch.cuda.empty_cache()
