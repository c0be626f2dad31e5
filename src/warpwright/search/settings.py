"""The user's settings of a run, stored with it: resuming needs nothing else."""

from __future__ import annotations

from dataclasses import dataclass, field

from warpwright.core.candidate import CUDA, Flags
from warpwright.core.codec import OMIT_DEFAULT
from warpwright.evolve.policy import Policy


@dataclass(frozen=True, slots=True, kw_only=True)
class Settings:
    """Names and numbers only; wiring.py builds objects from them."""

    task: str
    inputs: tuple[str, ...] = ()
    flags: Flags = field(default_factory=Flags)
    policy: Policy = field(default_factory=Policy)
    dispatch: str = "auto"
    """One of auto (the local GPU if there is one, else predictions), local, predict and bundle:DIR."""
    workers: int = 8
    """The number of concurrent requests to models."""
    per_minute: int | None = None
    """The most requests to each model per minute."""
    stream: bool | None = None
    """Whether answers are streamed; None leaves it to the provider."""
    answer_seconds: float | None = None
    """The time limit of one answer; None for the default of the kind of model."""
    allow_unpriced: bool = False
    """Whether a dollar budget may include a model with an unknown price."""
    language: str = CUDA
    """The language that models write new kernels in."""
    forward: str | None = None
    """File of a correct forward kernel, for a task of the backward pass."""
    start: str | None = None
    """File of a kernel to start from."""
    opinions: str | None = None
    """The model that gives opinions on candidates before they are evaluated."""
    record: str | None = None
    """File to which requests and answers are recorded, for a replay."""
    output: str | None
    """The file that holds the best kernel so far, if one was asked for."""
    lessons: tuple[str, ...] = ()
    """Lessons of earlier runs for the same function, as they were when the run began."""
    reference: str | None = field(default=None, metadata=OMIT_DEFAULT)
    """The text of the reference, if the task is a Python object of a caller; `task` names a file that never existed."""
