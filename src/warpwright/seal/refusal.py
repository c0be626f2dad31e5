"""The reason why a candidate was not sealed: it is wrong, with a counterexample, or undecided, with a reason."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from warpwright.core.codec import encode
from warpwright.core.records.evidence import Counterexample, Verdict

COMPILE_LIMIT = "compile-limit"
OF_TOOLKIT = "unsupported: cub"


@dataclass(frozen=True, slots=True, kw_only=True)
class Refusal:
    verdict: Verdict
    counterexample: Counterexample | None = None
    reason: str | None = None


class Refused(Exception):
    """Raised by a step of sealing that refuses a candidate; `sealing.py` returns its Refusal."""

    def __init__(self, refusal: Refusal) -> None:
        self.refusal = refusal
        super().__init__(refusal.reason or (refusal.counterexample and refusal.counterexample.message))

    @property
    def is_undecided(self) -> bool:
        return self.refusal.verdict is Verdict.UNDECIDED

    @property
    def is_of_toolkit(self) -> bool:
        """Whether the missing feature belongs to the toolkit, so that nvcc's own host code has it."""
        return (self.refusal.reason or "").startswith(OF_TOOLKIT)

    @property
    def hit_limit(self) -> bool:
        """Whether a compiler exceeded a limit; another attempt would exceed it too."""
        found = self.refusal.counterexample
        return found is not None and found.kind == COMPILE_LIMIT


def refuted(
    kind: str, message: str, *, case: str | None = None, line: int | None = None, facts: Mapping[str, Any] | None = None
) -> Refused:
    counterexample = Counterexample(
        kind=plain(kind), message=plain(message), case=case, line=line, facts=_plain_facts(encode(facts or {}))
    )
    return Refused(Refusal(verdict=Verdict.REFUTED, counterexample=counterexample))


def undecided(reason: str) -> Refused:
    return Refused(Refusal(verdict=Verdict.UNDECIDED, reason=plain(reason)))


def plain(text: str, kept: str = "") -> str:
    """The text on one line and without terminal control codes: a candidate may have written it to forge a verdict."""
    return "".join(letter if letter.isprintable() or letter in kept else " " for letter in text)


def _plain_facts(value: Any) -> Any:
    match value:
        case str():
            return plain(value, kept="\n\t")
        case list():
            return [_plain_facts(item) for item in value]
        case dict():
            return {key: _plain_facts(item) for key, item in value.items()}
    return value
