"""The source rung: whether the text is CUDA source at all. It costs nothing, and its messages are clearer than a
compiler's.
"""

from __future__ import annotations

import re

from warpwright.core.climb import Climb
from warpwright.core.records.evidence import Counterexample, Evidence, Verdict
from warpwright.core.records.rungs import SOURCE
from warpwright.cpp.tokens import Kind, tokenize
from warpwright.seal.sealing import MOST_SOURCE_BYTES

_BINDS = frozenset(
    {"PYBIND11_MODULE", "TORCH_LIBRARY", "TORCH_LIBRARY_FRAGMENT", "TORCH_LIBRARY_IMPL", "STABLE_TORCH_LIBRARY"}
)
_PYTHON = re.compile(r"^(import torch|from torch|import triton)\b", re.MULTILINE)


class SourceRung:
    name = SOURCE

    def climb(self, climbed: Climb) -> Climb:
        problem = _problem(climbed.candidate.source)
        return climbed.with_evidence(
            Evidence(
                candidate=climbed.candidate.id,
                rung=SOURCE,
                verdict=Verdict.REFUTED if problem else Verdict.HOLDS,
                counterexample=Counterexample(kind="source", message=problem) if problem else None,
            )
        )


def _problem(source: str) -> str | None:
    """Returns one sentence on what is wrong with the text, or None."""
    if not source.strip():
        return "the source is empty"
    if len(source) > MOST_SOURCE_BYTES:
        return f"the source has {len(source)} characters; {MOST_SOURCE_BYTES} are allowed"
    if "\0" in source or any("\ud800" <= character <= "\udfff" for character in source):
        return "the source is not text"
    words = {token.text for token in tokenize(source) if token.kind is Kind.WORD}
    directives = " ".join(token.text for token in tokenize(source) if token.kind is Kind.DIRECTIVE)
    if words.isdisjoint(_BINDS) and not any(word in directives for word in _BINDS):
        found = "it is Python; a candidate is one .cu file" if _PYTHON.search(source) else "PYBIND11_MODULE is missing"
        return f"the source exports no entry point: {found}"
    return None
