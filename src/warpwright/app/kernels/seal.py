"""Sealing a kernel: its device code and what it launches on every case, without a GPU."""

from __future__ import annotations

from dataclasses import dataclass

from warpwright import languages
from warpwright.app.given import Inputs, KernelLike, Subject, TaskLike, candidate_of, headers_first, subject_of
from warpwright.app.progress import OnProgress, Reporter
from warpwright.core.candidate import Candidate
from warpwright.core.launch.sealed import Sealed
from warpwright.core.records.evidence import Verdict
from warpwright.report.verdicts import refusal_sentence
from warpwright.seal.refusal import Refusal
from warpwright.seal.summary import Summary, summarise


@dataclass(frozen=True, slots=True, kw_only=True, repr=False)
class SealedKernel:
    """A sealed kernel, or why it could not be sealed."""

    candidate: Candidate
    subject: Subject
    sealed: Sealed | None = None
    refusal: Refusal | None = None

    @property
    def verdict(self) -> Verdict:
        return self.refusal.verdict if self.refusal else Verdict.HOLDS

    @property
    def summary(self) -> Summary | None:
        """Registers, launches and scratch, in the few figures that a person asks for."""
        return summarise(self.sealed) if self.sealed else None

    @property
    def sentence(self) -> str:
        if self.refusal:
            return f"{self.verdict.capitalize()}: {refusal_sentence(self.refusal)}"
        assert self.sealed is not None
        return f"Sealed for {self.subject.task.key}: {', '.join(self.sealed.entries)}."

    def __repr__(self) -> str:
        summary = self.summary
        kernels = summary.kernels if summary else ()
        lines = (f"{item.name}: {item.registers} registers, {item.static_shared} B static shared" for item in kernels)
        return "\n  ".join([self.sentence, *lines])

    def _repr_html_(self) -> str:
        from warpwright.app.notebook import preformatted

        return preformatted(self)


def seal(
    kernel: KernelLike,
    task: TaskLike,
    *,
    inputs: Inputs = (),
    gpu: str = "h200",
    fast_math: bool = False,
    on_progress: OnProgress | None = None,
) -> SealedKernel:
    """Compile a kernel and record what it launches on every case of its task."""
    subject, candidate = subject_of(task, inputs), candidate_of(kernel, gpu, fast_math)
    Reporter(on_progress).doing(headers_first("sealing"))
    found = languages.seal(subject.task, candidate)
    if isinstance(found, Refusal):
        return SealedKernel(candidate=candidate, subject=subject, refusal=found)
    return SealedKernel(candidate=candidate, subject=subject, sealed=found)
