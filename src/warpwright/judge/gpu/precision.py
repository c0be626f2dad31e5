"""The TF32 setting, the same for the judge, the candidate and the baselines."""

from __future__ import annotations

import torch


def allow_tf32(allowed: bool) -> None:
    """Allows or forbids TF32 in torch's matrix products and convolutions."""
    torch.backends.cuda.matmul.allow_tf32 = allowed
    torch.backends.cudnn.allow_tf32 = allowed
