"""The base class of Warpwright's torch dispatch modes."""

from __future__ import annotations

from torch.utils._python_dispatch import TorchDispatchMode


class Mode(TorchDispatchMode):
    """A dispatch mode without torch's protection from its compiler, which would import the whole compiler and take two
    seconds.
    """

    @classmethod
    def _should_skip_dynamo(cls) -> bool:
        return False
