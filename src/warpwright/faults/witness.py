"""Finds an input on which a fault gives a wrong result, where the original gives a right one.

The search is wider than a check: other seeds, every distribution, other orders of threads. What the emulator finds
counts only where a GPU would fault or hang; a race is no witness by itself.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from pathlib import Path

from warpwright.core.calls import elements
from warpwright.core.candidate import Candidate
from warpwright.core.errors import TaskError
from warpwright.core.task import Draw, Layout, Role, Task
from warpwright.emulate.program.build import program
from warpwright.emulate.program.calls import Order
from warpwright.emulate.staging import Execution, Trial, changed
from warpwright.emulate.truths import Known, Truths
from warpwright.faults.mutants import Mutant
from warpwright.faults.running import Runner, fault_of, is_undecided, results_of
from warpwright.oracle.compare.results import check_results
from warpwright.oracle.inputs.distributions import DISTRIBUTIONS
from warpwright.seal.refusal import Refused

ASKED, BEYOND = "asked", "beyond"
_ROLES = {ASKED: Role.CHECK, BEYOND: Role.ENVELOPE}
_SEED = 7000
"""The first seed of draws that no check uses."""
_MOST_ELEMENTS = 1 << 20
_FEW_ELEMENTS = 1 << 16
_TELLING = ("huge", "tiny", "sparse", "sorted")
"""The distributions that are tried on large cases, besides the task's own; every other one on small cases."""
_MOST_CASES = 3


@dataclass(frozen=True, slots=True, kw_only=True)
class Witness:
    """An input on which the original is right and the fault is wrong."""

    scope: str
    """"asked" for requested sizes and their reductions, "beyond" for others."""
    case: str
    how: str
    distribution: str = ""
    seed: int | None = None
    order: str = ""


@dataclass(slots=True, kw_only=True)
class Searcher:
    """The trials on which an original is right, to repeat with its mutants."""

    task: Task
    original: Candidate
    runner: Runner
    _truths: Truths = field(init=False)
    _right: dict[str, list[Trial]] = field(default_factory=dict)

    def __post_init__(self) -> None:
        self._truths = Truths(task=self.task, store=self.runner.store)

    def is_usable(self) -> bool:
        """Whether the original is right on any trial of the requested sizes."""
        return bool(self._trials(ASKED))

    def witness(self, mutant: Mutant) -> Witness | None:
        """The first witness, those of requested sizes first; None without one, or if the source cannot be built."""
        try:
            built = self._built(mutant.source)
        except Refused:
            return None
        if mutant.certain:
            return Witness(scope=ASKED, case="", how=mutant.certain)
        for scope in _ROLES:
            for trial, how in self._wrong(built, self._trials(scope)):
                draw, order = trial.draw, trial.order.value
                kind, seed = draw.distribution, draw.seed
                return Witness(scope=scope, case=draw.case.name, how=how, distribution=kind, seed=seed, order=order)
        return None

    def _built(self, source: str) -> Path:
        return program(Candidate(source=source, flags=self.original.flags), self.runner.store)

    def _trials(self, scope: str) -> list[Trial]:
        if scope not in self._right:
            trials = [trial for trial in self._all_trials(_ROLES[scope]) if self._has_truth(trial.draw)]
            wrong = [trial for trial, _ in self._wrong(self._built(self.original.source), trials)]
            self._right[scope] = [trial for trial in trials if trial not in wrong]
        return self._right[scope]

    def _all_trials(self, role: Role) -> Iterator[Trial]:
        cases = [case for case in self.task.cases_of(role) if case.layout is Layout.CONTIGUOUS]
        small = [case for case in cases if elements(self.task, case) <= _MOST_ELEMENTS]
        own = self.task.distributions[0]
        for number, case in enumerate(sorted(small, key=lambda case: elements(self.task, case))[-_MOST_CASES:]):
            kinds = DISTRIBUTIONS if elements(self.task, case) <= _FEW_ELEMENTS else _TELLING
            for place, kind in enumerate(dict.fromkeys([own, *kinds])):
                yield Trial(draw=Draw(case=case, distribution=kind, seed=_SEED + 20 * number + place))
            draw = Draw(case=case, distribution=own, seed=_SEED + 20 * number)
            yield from (Trial(draw=draw, order=order) for order in (Order.REVERSE, Order.SHUFFLED))

    def _has_truth(self, draw: Draw) -> bool:
        try:
            return bool(self._truths.of(draw).expected)
        except TaskError:
            return False

    def _wrong(self, built: Path, trials: Sequence[Trial]) -> list[tuple[Trial, str]]:
        """The trials that go wrong, with what is wrong."""
        known = [self._truths.of(trial.draw) for trial in trials]
        done = self.runner.run(built, [item.stage for item in known], trials) if trials else []
        wrong = []
        for trial, item, one in zip(trials, known, done, strict=True):
            if how := None if is_undecided(one.ran) else _mistake(item, one):
                wrong.append((trial, how))
        return wrong


def _mistake(known: Known, done: Execution) -> str | None:
    """What is wrong with a call; None if nothing is."""
    if how := fault_of(done.ran) or (changed(done) and "an argument is changed"):
        return how
    values = results_of(known.stage, done)
    mismatch = None if values is None else check_results(known.expected, values)
    return "no result is returned" if values is None else mismatch.message if mismatch else None
