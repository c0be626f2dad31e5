"""What Warpwright's ways of running torch's operations differently have in common."""

from __future__ import annotations

from torch.utils._python_dispatch import TorchDispatchMode


class Mode(TorchDispatchMode):
    """Torch keeps its compiler away from a mode, for which it imports all of the compiler: two seconds for nothing."""

    @classmethod
    def _should_skip_dynamo(cls) -> bool:
        return False
