"""What the composer says where it gives up."""

from __future__ import annotations

from warpwright.core.errors import Undecided


class CannotCompose(Undecided):
    """Names what is in the way, usually an ATen operation; nobody's mistake, so nobody has to mend anything."""

    def __init__(self, what: str) -> None:
        self.what = what
        super().__init__(f"cannot compose: {what}")

    def __reduce__(self) -> tuple[type[CannotCompose], tuple[str]]:
        return CannotCompose, (self.what,)
