"""What a search for kernels does, as records. A run is the list of its records: whoever has them can go on exactly.

Run -> Decision -> Proposal (with its Calls) -> Dossier -> Judged or Prediction -> Score -> Decision ...

Decisions are pure functions of a Snapshot, which is nothing but the records, folded.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from enum import StrEnum
from typing import Any

from warpwright.core.records.evidence import Dossier
from warpwright.core.records.judged import Judged


class Operator(StrEnum):
    """How a new candidate comes about."""

    TRANSLATE = "translate"
    """From the PyTorch reference alone."""
    DERIVE = "derive"
    """A backward pass or a training pair, from a forward kernel that is right."""
    REPAIR = "repair"
    """One wrong candidate, one critical issue, the least change."""
    OPTIMISE = "optimise"
    CROSSOVER = "crossover"
    REWRITE = "rewrite"
    """The same function by another paradigm."""
    SPECIALISE = "specialise"
    """Kernels that win on different shapes, merged into one that dispatches."""
    COMPOSE = "compose"
    """Written by the composer, without a language model."""
    TUNE = "tune"
    """The same source with other values of its tunables."""


class Fate(StrEnum):
    """Where a proposal ended: the funnel, from the mouth down."""

    ASKED = "asked"
    UNREADABLE = "unreadable"
    """The answer held no code that could be used."""
    DUPLICATE = "duplicate"
    REFUTED = "refuted"
    UNDECIDED = "undecided"
    FAULTED = "faulted"
    """We failed; it says nothing of the candidate."""
    WAITING = "waiting"
    """Not refuted, not scored yet."""
    SLOWER = "slower"
    IMPROVED = "improved"


class Action(StrEnum):
    BREED = "breed"
    EVALUATE = "evaluate"
    REFLECT = "reflect"
    STOP = "stop"


class Basis(StrEnum):
    """What a score stands on. The two are never compared with each other."""

    MEASURED = "measured"
    PREDICTED = "predicted"


@dataclass(frozen=True, slots=True, kw_only=True)
class Run:
    """One search for a kernel: what was asked, with which settings, from which seed."""

    id: str
    task: str
    seed: int
    settings: Mapping[str, Any] = field(default_factory=dict)
    started: str
    warpwright: str


@dataclass(frozen=True, slots=True, kw_only=True)
class Arm:
    """One way of asking: which model, thinking how hard."""

    model: str
    effort: str | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class Brief:
    """What is wanted of one proposal. `number` is unique in the run; candidates are named by their ids."""

    number: int
    operator: Operator
    parents: tuple[str, ...] = ()
    context: tuple[str, ...] = ()
    """Right kernels to learn from, slowest first."""
    near_miss: str | None = None
    hint: str | None = None
    lesson: str | None = None
    arm: Arm | None = None
    temperature: float | None = None
    island: int = 0
    genome: Mapping[str, Any] = field(default_factory=dict)
    """For the composer and the tuner: what to build."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Decision:
    """What is done next, why, and the random seed it was drawn with."""

    number: int
    generation: int
    action: Action
    reason: str
    seed: int
    briefs: tuple[Brief, ...] = ()
    candidates: tuple[str, ...] = ()
    """Whom to evaluate."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Call:
    """One question to a language model and what came of it. An unknown price is None, never zero."""

    id: str
    brief: int | None
    purpose: str
    model: str
    prompt: str
    temperature: float | None = None
    effort: str | None = None
    reply: str | None = None
    error: str | None = None
    usage: Mapping[str, int] = field(default_factory=dict)
    cost_usd: float | None = None
    seconds: float


@dataclass(frozen=True, slots=True, kw_only=True)
class Proposal:
    """The answer to a brief: a candidate, or why there is none."""

    brief: int
    candidate: str | None = None
    fingerprint: str | None = None
    """Equal for sources that differ only in names, comments and white space."""
    traits: tuple[int, int, int, int] | None = None
    """Memory, compute, parallelism, fusion: each 0 to 3."""
    duplicate_of: str | None = None
    problem: str | None = None
    """Why the answer could not be used."""
    faulted: bool = False
    """We, or the model's server, failed: the brief is spent, the model is not blamed."""
    genome: Mapping[str, Any] = field(default_factory=dict)


@dataclass(frozen=True, slots=True, kw_only=True)
class Prediction:
    """A time nobody measured: what a cost model expects of a candidate on one case."""

    candidate: str
    task: str
    case: str
    gpu: str
    time_us: float
    terms_us: Mapping[str, float] = field(default_factory=dict)
    """What each resource would take alone."""
    limited_by: str


@dataclass(frozen=True, slots=True, kw_only=True)
class Score:
    """How good a right candidate is. Natural logarithms, so that gains add up; larger is better.

    Measured: of the speed-up against the best baseline. Predicted: of the share of the physical limit.
    """

    candidate: str
    basis: Basis
    value: float
    by_case: Mapping[str, float] = field(default_factory=dict)
    share_of_limit: float | None = None
    gpu_seconds: float | None = None
    """What it cost to find out."""
    profile: str | None = None
    """One sentence: what holds it back, and the figure that shows it."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Lesson:
    """What a model, or a person, took from the results so far."""

    decision: int
    text: str


@dataclass(frozen=True, slots=True, kw_only=True)
class Sitting:
    """One sitting of a run: how long it lasted and why it ended. Wall clock is counted by these."""

    seconds: float
    reason: str


Record = Decision | Call | Proposal | Dossier | Judged | Prediction | Score | Lesson | Sitting
"""What a run is a list of."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Member:
    """One proposal with all that became of it."""

    brief: Brief
    generation: int
    fate: Fate
    candidate: str | None = None
    fingerprint: str | None = None
    traits: tuple[int, int, int, int] | None = None
    refuted_by: str | None = None
    issue: str | None = None
    """The one critical issue of a refuted candidate, for a repair; else why there is no candidate."""
    score: Score | None = None
    children: int = 0
    repairs: int = 0
    """Repairs on the way from the last candidate that was no repair."""
    cost_usd: float | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class Spent:
    """What a run has used. `unpriced` counts the calls whose price is unknown: the dollars are then a lower bound."""

    usd: float = 0.0
    unpriced: int = 0
    tokens: int = 0
    gpu_seconds: float = 0.0
    wall_seconds: float = 0.0


@dataclass(frozen=True, slots=True, kw_only=True)
class Snapshot:
    """Everything a decision may depend on."""

    run: Run
    members: tuple[Member, ...] = ()
    """In the order of their briefs."""
    decisions: tuple[Decision, ...] = ()
    lessons: tuple[str, ...] = ()
    spent: Spent = field(default_factory=Spent)

    @property
    def generation(self) -> int:
        return self.decisions[-1].generation if self.decisions else 0
