"""The ladder: the order of rungs, where it stops, and faults of ours, which are never verdicts."""

from __future__ import annotations

from dataclasses import dataclass, field

import pytest

from warpwright import languages
from warpwright.core.candidate import Candidate, Flags
from warpwright.core.climb import Climb
from warpwright.core.errors import OurFault
from warpwright.core.launch.sealed import Manifest, Sealed
from warpwright.core.records.evidence import Counterexample, Evidence, Fault, Verdict
from warpwright.core.task import Case, Output, Reference, Role, Task, TensorArg
from warpwright.seal.refusal import Refusal
from warpwright.seal.sealing import MOST_SOURCE_BYTES
from warpwright.verify.ladder import climb, climb_on
from warpwright.verify.seal import SealRung
from warpwright.verify.source import SourceRung

TASK = Task(
    name="double",
    arguments=(TensorArg(name="x", shape=("N",)),),
    outputs=(Output(name="y", shape=("N",)),),
    cases=(Case(name="small", role=Role.CHECK, dims={"N": 7}),),
    reference=Reference(source=""),
)
CANDIDATE = Candidate(source="PYBIND11_MODULE(TORCH_EXTENSION_NAME, m) {}")
MANIFEST = Manifest(
    candidate=CANDIDATE.id, task=TASK.key, gpu="h200", arch="sm_90a", flags=Flags(), compilers={}, command=(),
    hashes={}, seconds={}, isolation="none", warpwright="0",
)  # fmt: skip
SEALED = Sealed(id="s", source=CANDIDATE.source, manifest=MANIFEST, entries=("forward",), cubin=None)
WRONG = Counterexample(kind="block", message="1025 threads")


@dataclass
class Says:
    """A rung with one fixed answer, or a fault."""

    verdict: Verdict | None
    name: str = "says"
    makes: Sealed | None = None
    seen: list[Climb] = field(default_factory=list)

    def climb(self, climbed: Climb) -> Climb:
        self.seen.append(climbed)
        if self.verdict is None:
            raise OurFault(Fault(where="disk", message="full"))
        evidence = Evidence(
            candidate=climbed.candidate.id,
            rung=self.name,
            verdict=self.verdict,
            reason="unsupported: at::foo" if self.verdict is Verdict.UNDECIDED else None,
            counterexample=WRONG if self.verdict is Verdict.REFUTED else None,
        )
        return climbed.with_evidence(evidence, self.makes)


def test_rungs_are_climbed_until_one_refutes() -> None:
    rungs = [Says(Verdict.HOLDS), Says(Verdict.UNDECIDED), Says(Verdict.REFUTED), Says(Verdict.HOLDS)]
    dossier = climb(TASK, CANDIDATE, ladder=rungs).dossier
    assert [evidence.verdict for evidence in dossier.evidence] == ["holds", "undecided", "refuted"]
    assert dossier.verdict is Verdict.REFUTED
    assert rungs[3].seen == []


def test_a_rung_gets_the_artefact_and_evidence_of_earlier_rungs() -> None:
    rungs = [Says(Verdict.HOLDS, name="first", makes=SEALED), Says(Verdict.UNDECIDED), Says(Verdict.HOLDS)]
    climbed = climb(TASK, CANDIDATE, TASK.cases, rungs)
    (start,), (second,), (third,) = (rung.seen for rung in rungs)
    assert (start.sealed, start.evidence, start.cases) == (None, (), TASK.cases)
    assert (second.sealed, second.held) == (SEALED, {"first"})
    assert (third.sealed, third.evidence) == (SEALED, climbed.evidence[:2])
    assert climbed.sealed is SEALED


def test_a_climb_that_is_over_is_not_continued() -> None:
    refuted = climb(TASK, CANDIDATE, ladder=[Says(Verdict.REFUTED)])
    faulted = climb(TASK, CANDIDATE, ladder=[Says(None)])
    last = Says(Verdict.HOLDS)
    assert [climb_on(start, [last]) for start in (refuted, faulted)] == [refuted, faulted]
    assert last.seen == []
    held = climb_on(climb(TASK, CANDIDATE, ladder=[Says(Verdict.HOLDS)]), [last])
    assert len(held.evidence) == 2


def test_a_fault_ends_the_climb_without_a_verdict() -> None:
    last = Says(Verdict.REFUTED)
    dossier = climb(TASK, CANDIDATE, ladder=[Says(Verdict.HOLDS), Says(None), last]).dossier
    assert dossier.faults == (Fault(where="disk", message="full"),)
    assert dossier.verdict is Verdict.UNDECIDED
    assert last.seen == []


@pytest.mark.parametrize(
    ("source", "says"),
    [
        ("", "empty"),
        (" \n\t", "empty"),
        ("PYBIND11_MODULE\0", "not text"),
        ("PYBIND11_MODULE \udcff", "not text"),
        ("int main() {}", "PYBIND11_MODULE is missing"),
        ("// PYBIND11_MODULE(x, m)", "PYBIND11_MODULE is missing"),
        ("import torch\nclass ModelNew: pass", "it is Python"),
        ("x" * (MOST_SOURCE_BYTES + 1), "characters"),
    ],
)
def test_text_that_is_not_a_source_is_refuted_in_one_sentence(source: str, says: str) -> None:
    (evidence,) = climb(TASK, Candidate(source=source), ladder=[SourceRung()]).evidence
    assert evidence.verdict is Verdict.REFUTED
    assert evidence.counterexample is not None
    assert says in evidence.counterexample.message


@pytest.mark.parametrize(
    "source",
    [CANDIDATE.source, "TORCH_LIBRARY(lib, m) {}", "#define BIND PYBIND11_MODULE(TORCH_EXTENSION_NAME, m)\nBIND {}"],
)
def test_a_source_holds(source: str) -> None:
    (evidence,) = climb(TASK, Candidate(source=source), ladder=[SourceRung()]).evidence
    assert evidence.verdict is Verdict.HOLDS


@pytest.mark.parametrize(
    "refusal",
    [
        Refusal(verdict=Verdict.REFUTED, counterexample=WRONG),
        Refusal(verdict=Verdict.UNDECIDED, reason="unsupported: at::foo"),
    ],
)
def test_a_refusal_to_seal_is_evidence(refusal: Refusal, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(languages, "seal", lambda *_: refusal)
    climbed = climb(TASK, CANDIDATE, ladder=[SealRung()])
    (evidence,) = climbed.evidence
    assert climbed.sealed is None
    assert (evidence.verdict, evidence.reason, evidence.counterexample) == (
        refusal.verdict, refusal.reason, refusal.counterexample,
    )  # fmt: skip
