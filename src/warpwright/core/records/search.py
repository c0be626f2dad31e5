"""The records of a search for kernels. A run is the list of its records, from which it resumes exactly.

Run -> Decision -> Proposal (with its Calls) -> Dossier -> Judged or Prediction -> Score -> Decision ...

Decisions are pure functions of a Snapshot, which is the fold of these records.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from enum import StrEnum
from typing import Any

from warpwright.core.codec import OMIT_DEFAULT
from warpwright.core.records.evidence import Dossier
from warpwright.core.records.judged import Judged


class Operator(StrEnum):
    """The ways to create a candidate."""

    TRANSLATE = "translate"
    """Written from the PyTorch reference alone."""
    DERIVE = "derive"
    """A backward pass or a training pair, derived from a correct forward kernel."""
    REPAIR = "repair"
    """A smallest change to a wrong candidate that corrects one critical issue."""
    OPTIMISE = "optimise"
    CROSSOVER = "crossover"
    REWRITE = "rewrite"
    """The same function, written in another paradigm."""
    SPECIALISE = "specialise"
    """The fastest kernels of different shapes, merged into one that dispatches by shape."""
    COMPOSE = "compose"
    """Written by the composer, without a language model."""
    TUNE = "tune"
    """The same source with other values of its tunable constants."""


class Fate(StrEnum):
    """The state in which a proposal ended, in the order of the funnel."""

    ASKED = "asked"
    UNREADABLE = "unreadable"
    """The answer contained no usable code."""
    DUPLICATE = "duplicate"
    REFUTED = "refuted"
    UNDECIDED = "undecided"
    FAULTED = "faulted"
    """A fault of ours, which does not count against the candidate."""
    WAITING = "waiting"
    """Neither refuted nor scored yet."""
    UNSCORED = "unscored"
    """Correct as far as every check can tell, but its time could be neither measured nor predicted."""
    SLOWER = "slower"
    IMPROVED = "improved"


class Action(StrEnum):
    BREED = "breed"
    EVALUATE = "evaluate"
    REFLECT = "reflect"
    STOP = "stop"


class Basis(StrEnum):
    """The basis of a score. Scores of different bases are never compared."""

    MEASURED = "measured"
    PREDICTED = "predicted"


@dataclass(frozen=True, slots=True, kw_only=True)
class Run:
    """One search for a kernel: the task, the settings and the seed."""

    id: str
    task: str
    seed: int
    settings: Mapping[str, Any] = field(default_factory=dict)
    started: str
    warpwright: str


@dataclass(frozen=True, slots=True, kw_only=True)
class Arm:
    """A model with its reasoning effort."""

    model: str
    effort: str | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class Brief:
    """The request for one proposal. `number` is unique in the run; candidates are named by their ids."""

    number: int
    operator: Operator
    parents: tuple[str, ...] = ()
    context: tuple[str, ...] = ()
    """Correct kernels to learn from, slowest first."""
    near_miss: str | None = None
    hint: str | None = None
    lesson: str | None = None
    arm: Arm | None = None
    temperature: float | None = None
    island: int = 0
    genome: Mapping[str, Any] = field(default_factory=dict)
    """The configuration for the composer or the tuner."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Decision:
    """The next step of a run, its reason, and the random seed it was drawn with."""

    number: int
    generation: int
    action: Action
    reason: str
    seed: int
    briefs: tuple[Brief, ...] = ()
    candidates: tuple[str, ...] = ()
    """The candidates to evaluate."""
    basis: Basis | None = field(default=None, metadata=OMIT_DEFAULT)
    """The basis on which candidates are evaluated; None for the most reliable one that the run has."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Call:
    """One request to a language model and its outcome. An unknown price is None, never zero."""

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
    """The answer to a brief: a candidate, or the reason why there is none."""

    brief: int
    candidate: str | None = None
    fingerprint: str | None = None
    """Equal for sources that differ only in names, comments and white space."""
    traits: tuple[int, int, int, int] | None = None
    """Memory, compute, parallelism and fusion, each 0 to 3."""
    duplicate_of: str | None = None
    problem: str | None = None
    """Why the answer could not be used."""
    faulted: bool = False
    """Whether we or the model's server failed: the brief is spent, but the model is not to blame."""
    genome: Mapping[str, Any] = field(default_factory=dict)


@dataclass(frozen=True, slots=True, kw_only=True)
class Prediction:
    """A time predicted by the cost model for a candidate in one case."""

    candidate: str
    task: str
    case: str
    gpu: str
    time_us: float
    terms_us: Mapping[str, float] = field(default_factory=dict)
    """The time that each resource would take alone."""
    limited_by: str


@dataclass(frozen=True, slots=True, kw_only=True)
class Score:
    """The quality of a correct candidate as a natural logarithm, so that gains add up; larger is better.

    Measured: the logarithm of the speed-up against the best baseline. Predicted: of the share of the physical limit.
    """

    candidate: str
    basis: Basis
    value: float
    by_case: Mapping[str, float] = field(default_factory=dict)
    times_us: Mapping[str, float] = field(default_factory=dict, metadata=OMIT_DEFAULT)
    """The time of each case, on the same basis."""
    share_of_limit: float | None = None
    gpu_seconds: float | None = None
    """The GPU time spent on the measurement."""
    profile: str | None = None
    """One sentence on the bottleneck, with the figure that shows it."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Lesson:
    """A conclusion of a model, or a person, from the results so far."""

    decision: int
    text: str


@dataclass(frozen=True, slots=True, kw_only=True)
class Session:
    """One session of a run: its duration and why it ended. Wall-clock time is the sum over sessions."""

    seconds: float
    reason: str


Record = Decision | Call | Proposal | Dossier | Judged | Prediction | Score | Lesson | Session
"""The kinds of records in a run."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Member:
    """One proposal with everything recorded about it."""

    brief: Brief
    generation: int
    fate: Fate
    candidate: str | None = None
    fingerprint: str | None = None
    traits: tuple[int, int, int, int] | None = None
    refuted_by: str | None = None
    issue: str | None = None
    """The critical issue of a refuted candidate, for a repair; otherwise the reason why there is no candidate."""
    holds: bool = False
    """Whether every check that could run held."""
    score: Score | None = None
    children: int = 0
    repairs: int = 0
    """Repairs since the last candidate that was not a repair."""
    cost_usd: float | None = None
    scores: Mapping[Basis, Score] = field(default_factory=dict)
    """All scores; `score` is the one on the surest basis."""
    evaluated: tuple[Basis, ...] = ()
    """The bases on which the candidate was evaluated, with a score or without."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Spent:
    """The expenses of a run. `unpriced` counts the calls of unknown price: then the dollars are a lower bound."""

    usd: float = 0.0
    unpriced: int = 0
    tokens: int = 0
    gpu_seconds: float = 0.0
    wall_seconds: float = 0.0


@dataclass(frozen=True, slots=True, kw_only=True)
class Snapshot:
    """Everything that a decision may depend on."""

    run: Run
    members: tuple[Member, ...] = ()
    """Sorted by brief number."""
    decisions: tuple[Decision, ...] = ()
    lessons: tuple[str, ...] = ()
    spent: Spent = field(default_factory=Spent)

    @property
    def generation(self) -> int:
        return self.decisions[-1].generation if self.decisions else 0
