"""Surveys mutants: how many of the bugs planted in correct kernels the emulator finds."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from enum import StrEnum

from warpwright.core.candidate import Candidate
from warpwright.core.records.evidence import Verdict
from warpwright.core.task import Case, Role, Task
from warpwright.emulate.emulation import Emulation
from warpwright.emulate.examination import Examination
from warpwright.emulate.program.build import program
from warpwright.emulate.program.runner import Program
from warpwright.faults.mutants import Mutant, mutants
from warpwright.seal.cache import Store, default_root
from warpwright.seal.capture.trace import BadTrace
from warpwright.seal.refusal import Refusal, Refused, refuted
from warpwright.verify.library import execute_on_cpu

_BARRIERS = "dropped barrier"
_NO_CONFLICT = "no two accesses are ordered by it alone, and code without races gives the same result in every order"


class Fate(StrEnum):
    REFUTED = "refuted"
    EQUIVALENT = "equivalent"
    """The same bits as the original in every run and order, for a reason that the emulator has checked."""
    SURVIVED = "survived"
    """Neither refuted nor proved equivalent."""
    UNDECIDED = "undecided"


@dataclass(frozen=True, slots=True, kw_only=True)
class Surveyed:
    """One mutant with its fate and the reason."""

    original: str
    mutant: Mutant
    fate: Fate
    why: str


class Survey:
    """Surveys the mutants of one correct kernel; inputs and expected values are computed once for all of them."""

    def __init__(self, name: str, task: Task, source: str, cases: Sequence[Case], store: Store | None = None) -> None:
        self._name, self._source = name, source
        self._store = store or Store(root=default_root())
        checked = tuple(case for case in cases if case.role is Role.CHECK)
        self._sizes: tuple[int, ...] | None = None
        self._gpu = Candidate(source=source).flags.gpu
        self._examination = Examination(task=task, cases=checked, store=self._store)
        self.original = self._emulated(source)
        if isinstance(self.original, Emulation):
            # Mutants run the same granule sizes as the original, so that their bits can be compared.
            self._sizes = self.original.granules

    def fates(self, chosen: Iterable[Mutant] | None = None) -> Iterator[Surveyed]:
        for mutant in mutants(self._source) if chosen is None else chosen:
            fate, why = self._fate(mutant, self._emulated(mutant.source))
            yield Surveyed(original=self._name, mutant=mutant, fate=fate, why=why)

    def _emulated(self, source: str) -> Emulation | Refusal:
        try:
            path = program(Candidate(source=source), self._store)
            built = Program(path=path, gpu=self._gpu, store=self._store, library=execute_on_cpu)
            return self._examination.of(built, self._sizes)
        except Refused as refused:
            return refused.refusal
        except BadTrace as bad:
            return refuted("trace", str(bad)).refusal

    def _fate(self, mutant: Mutant, found: Emulation | Refusal) -> tuple[Fate, str]:
        if found.counterexample is not None:
            return Fate.REFUTED, f"{found.counterexample.kind}: {found.counterexample.message}"
        if found.verdict is not Verdict.HOLDS or isinstance(found, Refusal):
            return Fate.UNDECIDED, found.reason or ""
        assert isinstance(self.original, Emulation)
        if found.digest != self.original.digest:
            far, usual = found.distance or 0.0, self.original.distance or 0.0
            return Fate.SURVIVED, f"other bits, within tolerance (error {far:.2g}, the original {usual:.2g})"
        argument = self._argument(mutant, found)
        if argument is None:
            return Fate.SURVIVED, "the same bits in every run, but equivalence is not proved"
        return Fate.EQUIVALENT, f"the same bits in every run: {argument}"

    def _argument(self, mutant: Mutant, found: Emulation) -> str | None:
        """Returns why the mutant cannot differ from the original in any of these runs, in any order; None if
        unknown.
        """
        if mutant.kind == _BARRIERS and not any(finding.kind == "race" for finding in found.findings):
            return _NO_CONFLICT
        if mutant.witness is None:
            return None
        return mutant.proves if self._is_like_the_original(self._emulated(mutant.witness)) else None

    def _is_like_the_original(self, found: Emulation | Refusal) -> bool:
        if isinstance(found, Refusal) or isinstance(self.original, Refusal):
            return False
        return found.verdict is Verdict.HOLDS and found.digest == self.original.digest
