"""What the user asked of a run, as it is stored with the run: a resumed run needs nothing else."""

from __future__ import annotations

from dataclasses import dataclass, field

from warpwright.core.candidate import Flags
from warpwright.evolve.policy import Policy


@dataclass(frozen=True, slots=True, kw_only=True)
class Settings:
    """Names and numbers only; wiring.py builds objects from them."""

    task: str
    inputs: tuple[str, ...] = ()
    flags: Flags = field(default_factory=Flags)
    policy: Policy = field(default_factory=Policy)
    dispatch: str = "auto"
    """auto: this machine's GPU if it has one, else predictions; local; predict; bundle:DIR."""
    workers: int = 8
    """Questions to models at one time."""
    per_minute: int | None = None
    """Questions to each model in any minute."""
    stream: bool | None = None
    """Whether answers travel piece by piece; None is what suits the server."""
    answer_seconds: float | None = None
    """How long one answer may take; None is what is usual for the kind of model."""
    allow_unpriced: bool = False
    """Go on with a dollar budget although the price of some model is unknown."""
    forward: str | None = None
    """A right forward kernel's file, for a task that asks for the backward pass."""
    start: str | None = None
    """A kernel's file to start from."""
    opinions: str | None = None
    """The model that is asked for opinions on candidates before they are evaluated."""
    record: str | None = None
    """Where questions and answers are also written, for a replay."""
    output: str
    """The file that always holds the best kernel so far."""
