"""The exceptions of the composer.

CannotCompose   there is no lowering for a function: an answer
  AsksSizes     it takes another way for other sizes than those it was traced with
OurFault        anything else that goes wrong in the composer: a bug of ours, with the exception as its cause
"""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager

from warpwright.core.errors import OurFault, Undecided, WarpwrightError
from warpwright.core.records.evidence import Fault


class CannotCompose(Undecided):
    """Names a feature without a lowering, usually an ATen operation; not an error of the user."""

    def __init__(self, what: str) -> None:
        self.what = what
        super().__init__(f"cannot compose: {what}")

    def __reduce__(self) -> tuple[type[CannotCompose], tuple[str]]:
        return type(self), (self.what,)


class AsksSizes(CannotCompose):
    """A function that, as it was traced, depends on sizes that only some cases have."""


@contextmanager
def bugs_as_faults(doing: str) -> Iterator[None]:
    """Turns unexpected exceptions into OurFault. `doing` describes the current step of the composer."""
    try:
        yield
    except WarpwrightError:
        raise
    except Exception as error:
        what = ": ".join([type(error).__name__, *str(error).splitlines()[:1]])
        raise OurFault(Fault(where="compose", message=f"{doing}: {what}")) from error
