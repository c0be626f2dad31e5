"""The same precision for everybody: judge, candidate and rivals."""

from __future__ import annotations

import torch


def allow_tf32(allowed: bool) -> None:
    """In torch's own products and convolutions: where the task allows it, nowhere else."""
    torch.backends.cuda.matmul.allow_tf32 = allowed
    torch.backends.cudnn.allow_tf32 = allowed
