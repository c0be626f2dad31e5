"""The source rung: whether the text is a source of its language at all. It costs nothing, and its messages are clearer
than a compiler's.
"""

from __future__ import annotations

from warpwright import languages
from warpwright.core.candidate import Candidate
from warpwright.core.climb import Climb
from warpwright.core.records.evidence import Counterexample, Evidence, Verdict
from warpwright.core.records.rungs import SOURCE
from warpwright.seal.sealing import MOST_SOURCE_BYTES


class SourceRung:
    name = SOURCE

    def climb(self, climbed: Climb) -> Climb:
        problem = _problem(climbed.candidate)
        return climbed.with_evidence(
            Evidence(
                candidate=climbed.candidate.id,
                rung=SOURCE,
                verdict=Verdict.REFUTED if problem else Verdict.HOLDS,
                counterexample=Counterexample(kind="source", message=problem) if problem else None,
            )
        )


def _problem(candidate: Candidate) -> str | None:
    """Returns one sentence on what is wrong with the text, or None."""
    source = candidate.source
    if not source.strip():
        return "the source is empty"
    if len(source) > MOST_SOURCE_BYTES:
        return f"the source has {len(source)} characters; {MOST_SOURCE_BYTES} are allowed"
    if "\0" in source or any("\ud800" <= character <= "\udfff" for character in source):
        return "the source is not text"
    return languages.of(candidate).problem(source)
