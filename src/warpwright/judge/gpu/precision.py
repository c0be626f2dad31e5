"""Settings of torch that decide how fast and how exact its products are, the same for all processes of the judge."""

from __future__ import annotations

import torch

from warpwright.core.task import Precision


def allow_tf32(allowed: bool) -> None:
    """Allows or forbids TF32 in torch's matrix products and convolutions."""
    torch.backends.cuda.matmul.allow_tf32 = allowed
    torch.backends.cudnn.allow_tf32 = allowed


def torch_settings(tf32: bool) -> dict[str, str]:
    """The settings under which library calls of candidates and baselines run."""
    cudnn = torch.backends.cudnn
    return {
        "fp32 products": Precision.TF32 if tf32 else Precision.STRICT,
        "cudnn.benchmark": str(cudnn.benchmark),
        "cudnn.deterministic": str(cudnn.deterministic),
    }
