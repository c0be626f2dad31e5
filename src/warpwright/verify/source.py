"""The first rung: is this a source at all? Costs nothing, and its answers are plainer than a compiler's."""

from __future__ import annotations

import re

from warpwright.core.candidate import Candidate
from warpwright.core.records.evidence import Counterexample, Evidence, Verdict
from warpwright.core.task import Task
from warpwright.cpp.tokens import Kind, tokenize
from warpwright.seal.sealing import MOST_SOURCE_BYTES

_BINDS = frozenset(
    {"PYBIND11_MODULE", "TORCH_LIBRARY", "TORCH_LIBRARY_FRAGMENT", "TORCH_LIBRARY_IMPL", "STABLE_TORCH_LIBRARY"}
)
_PYTHON = re.compile(r"^(import torch|from torch|import triton)\b", re.MULTILINE)


class SourceRung:
    name = "source"

    def climb(self, task: Task, candidate: Candidate) -> Evidence:
        problem = _problem(candidate.source)
        return Evidence(
            candidate=candidate.id,
            rung=self.name,
            verdict=Verdict.REFUTED if problem else Verdict.HOLDS,
            counterexample=Counterexample(kind="source", message=problem) if problem else None,
        )


def _problem(source: str) -> str | None:
    """One sentence on what is wrong with the text, or None."""
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
