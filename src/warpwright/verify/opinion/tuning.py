"""Improves the panel's instructions on one part of a labelled set and measures them on the other.

Each verifier is asked about the training kernels that are correct or have a bug of its own kind. A model sees the
mistakes and writes another instruction, which is kept only if it judges more training kernels correctly. The held-out
part is used twice, before and after, and decides nothing.
"""

from __future__ import annotations

import random
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from string import Template

from warpwright.core.candidate import Candidate
from warpwright.core.codec import content_id
from warpwright.core.protocols import Model, Request
from warpwright.core.records.evidence import Verdict
from warpwright.core.task import Task
from warpwright.verify.opinion.answers import quoted_kernel
from warpwright.verify.opinion.panel import FOLDER, Panel, Verifier
from warpwright.verify.opinion.rung import asked_vote
from warpwright.verify.opinion.votes import Record, Vote, tallied

TRAINING_SHARE = 0.6
_MOST_SHOWN = 4
"""The number of mistakes shown in one request for a better instruction."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Labelled:
    """A kernel with a known verdict; `kind` is the class of its bug."""

    task: Task
    candidate: Candidate
    verdict: Verdict
    kind: str

    @property
    def right(self) -> bool:
        return self.verdict is Verdict.HOLDS


@dataclass(frozen=True, slots=True, kw_only=True)
class Outcome:
    """The shares of kernels that a verifier judged correctly, before and after; None if there were none for it to
    judge.
    """

    verifier: str
    training_before: float | None
    training_after: float | None
    held_out_before: float | None
    held_out_after: float | None
    rewritten: int
    """The number of better instructions kept."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Tuned:
    """The panel with its best instructions, and records from the held-out part only."""

    panel: Panel
    outcomes: tuple[Outcome, ...]
    training: int
    held_out: int


def tune(
    panel: Panel, labelled: Sequence[Labelled], model: Model, seed: int, *, rounds: int = 3, reflect: bool = True
) -> Tuned:
    """Improves every verifier of the panel on one part of the set and measures it on the rest."""
    training, held_out = split(labelled, seed)
    done = [_tuned(panel, verifier, training, held_out, model, rounds, reflect) for verifier in panel.verifiers]
    verifiers = tuple(verifier for verifier, _ in done)
    return Tuned(
        panel=replace(panel, verifiers=verifiers),
        outcomes=tuple(outcome for _, outcome in done),
        training=len(training),
        held_out=len(held_out),
    )


def split(labelled: Sequence[Labelled], seed: int) -> tuple[list[Labelled], list[Labelled]]:
    """Splits into a training and a held-out part, stratified by class of bug."""
    strata: dict[tuple[bool, str], list[Labelled]] = {}
    for item in sorted(labelled, key=lambda item: (item.task.key, item.candidate.id)):
        strata.setdefault((item.right, "" if item.right else item.kind), []).append(item)
    generator = random.Random(seed)
    training: list[Labelled] = []
    held_out: list[Labelled] = []
    for key in sorted(strata):
        group = strata[key]
        generator.shuffle(group)
        # Rounding is random, so that classes with one kernel do not all end up in training.
        count = int(len(group) * TRAINING_SHARE + generator.random())
        training += group[:count]
        held_out += group[count:]
    return training, held_out


def own(panel: Panel, verifier: Verifier, labelled: Sequence[Labelled]) -> list[Labelled]:
    """The kernels that count for a verifier: correct ones, bugs of its kind, and bugs that no verifier names."""
    named = {kind for other in panel.verifiers for kind in other.catches}
    return [item for item in labelled if item.right or item.kind in verifier.catches or item.kind not in named]


@dataclass(frozen=True, slots=True, kw_only=True)
class _Judged:
    """A verifier's votes on some kernels."""

    pairs: tuple[tuple[Labelled, Vote], ...]

    @property
    def mistakes(self) -> list[tuple[Labelled, Vote]]:
        """Wrong verdicts and unreadable answers."""
        return [(item, vote) for item, vote in self.pairs if vote.passed is not item.right]

    @property
    def share(self) -> float | None:
        return 1 - len(self.mistakes) / len(self.pairs) if self.pairs else None

    @property
    def record(self) -> Record:
        return next(iter(tallied((item.right, [vote]) for item, vote in self.pairs).values()), Record())


def _tuned(
    panel: Panel,
    verifier: Verifier,
    training: Sequence[Labelled],
    held_out: Sequence[Labelled],
    model: Model,
    rounds: int,
    reflect: bool,
) -> tuple[Verifier, Outcome]:
    def judged(asked: Verifier, items: Sequence[Labelled]) -> _Judged:
        votes = (asked_vote(item.task, item.candidate, asked, model, reflect=reflect) for item in items)
        return _Judged(pairs=tuple(zip(items, votes, strict=True)))

    mine, unseen = own(panel, verifier, training), own(panel, verifier, held_out)
    first = judged(verifier, mine)
    best, kept, count = _improved(verifier, first, lambda asked: judged(asked, mine), model, rounds)
    # Votes are weighed against all bugs, not only those of their own kind: the record covers the whole held-out part.
    final = judged(best, held_out)
    after = _Judged(pairs=tuple(pair for pair in final.pairs if pair[0] in unseen))
    before = after if best is verifier else judged(verifier, unseen)
    outcome = Outcome(
        verifier=verifier.name,
        training_before=first.share,
        training_after=kept.share,
        held_out_before=before.share,
        held_out_after=after.share,
        rewritten=count,
    )
    return replace(best, record=final.record), outcome


def _improved(
    verifier: Verifier, first: _Judged, judge: Callable[[Verifier], _Judged], model: Model, rounds: int
) -> tuple[Verifier, _Judged, int]:
    """Returns the best instruction found, its votes, and the number of improvements."""
    best, done, count = verifier, first, 0
    for _ in range(rounds):
        if not done.mistakes:
            break
        instruction = model.complete(_request(best, done)).text.strip()
        if not instruction or instruction == best.instruction.strip():
            continue
        other = replace(best, instruction=instruction + "\n")
        tried = judge(other)
        if len(tried.mistakes) < len(done.mistakes):
            best, done, count = other, tried, count + 1
    return best, done, count


def _request(verifier: Verifier, done: _Judged) -> Request:
    text = Template((FOLDER / "improve.md").read_text(encoding="utf-8")).substitute(
        asked=str(len(done.pairs)),
        right=str(len(done.pairs) - len(done.mistakes)),
        boundary=content_id(verifier.instruction)[:12],
        instruction=verifier.instruction.strip(),
        mistakes="\n\n".join(_mistake(item, vote) for item, vote in done.mistakes[:_MOST_SHOWN]),
    )
    return Request(prompt=text, purpose=f"opinion-{verifier.name}-tuning")


def _mistake(item: Labelled, vote: Vote) -> str:
    truth = "The kernel is right" if item.right else f"The kernel is wrong (class of bug: {item.kind})"
    word = {None: "gave an answer that could not be read", True: "passed it", False: "failed it"}[vote.passed]
    reasons = "; ".join(f"line {reason.line}: {reason.why}" for reason in vote.reasons)
    said = f"{truth}, for {item.task.key}. The judge {word}{f', because {reasons}' if reasons else ''}."
    return f"{said}\n{quoted_kernel(item.candidate)}"
