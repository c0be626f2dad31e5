"""Proving a kernel: whether it computes the formula of its reference, decided in lifted numbers without a GPU."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from warpwright import languages
from warpwright.app.given import (
    Inputs,
    KernelLike,
    Subject,
    TaskLike,
    candidate_of,
    cases_of_types,
    headers_first,
    subject_of,
)
from warpwright.app.progress import OnProgress, Reporter
from warpwright.core.candidate import Candidate
from warpwright.core.dtypes import dtype_named
from warpwright.core.records.evidence import Counterexample
from warpwright.prove.proof import Grade, Proof


@dataclass(frozen=True, slots=True, kw_only=True, repr=False)
class Proved:
    """A kernel, and what the comparison of its formula with the reference's found."""

    candidate: Candidate
    subject: Subject
    proof: Proof

    @property
    def grade(self) -> Grade:
        return self.proof.grade

    @property
    def is_equal(self) -> bool:
        return self.grade is Grade.EQUAL

    @property
    def counterexample(self) -> Counterexample | None:
        return self.proof.counterexample

    @property
    def sentence(self) -> str:
        return self.proof.sentence

    def document(self) -> dict[str, Any]:
        """For programs: the grade first, then the words, then the finding on each case."""
        return {
            "task": self.subject.task.key,
            "grade": self.grade,
            "sentence": self.sentence,
            "counterexample": self.counterexample,
            "proof": self.proof,
        }

    def __repr__(self) -> str:
        lines = (f"{item.case}: {item.grade} {item.reason or ''}".rstrip() for item in self.proof.cases)
        return "\n  ".join([self.sentence, *lines])

    def _repr_html_(self) -> str:
        from warpwright.app.notebook import preformatted

        return preformatted(self)


def prove(
    kernel: KernelLike,
    task: TaskLike,
    *,
    inputs: Inputs = (),
    dtypes: Sequence[str] = (),
    gpu: str = "h200",
    on_progress: OnProgress | None = None,
) -> Proved:
    """Decide whether a kernel computes the formula of its reference, up to the order of its operations.

    EQUAL, DIFFERENT with a counterexample, or UNSUPPORTED with the construct that could not be decided.
    """
    subject, candidate = subject_of(task, inputs), candidate_of(kernel, gpu)
    Reporter(on_progress).doing(headers_first("proving"))
    cases = cases_of_types(subject.task, [dtype_named(name).name for name in dtypes])
    proof = languages.of(candidate).prove(subject.task, candidate, cases)
    return Proved(candidate=candidate, subject=subject, proof=proof)
