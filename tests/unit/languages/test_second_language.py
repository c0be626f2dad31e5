"""A language is one package in the room: a toy one is checked, proposed, searched with and refused like CUDA C++."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
from typer.testing import CliRunner

from warpwright import languages
from warpwright.cli.main import app
from warpwright.core.candidate import Candidate, Flags
from warpwright.core.errors import Undecided, UsageError
from warpwright.core.gpus.table import gpu_named
from warpwright.core.launch.sealed import Sealed
from warpwright.core.protocols import Reply, Request
from warpwright.core.records.evidence import Counterexample, Evidence, Verdict
from warpwright.core.records.rungs import EMULATE, SEAL, SOURCE
from warpwright.core.records.search import Arm, Basis, Brief, Operator, Score
from warpwright.core.task import Case, Output, Reference, Role, Task, TensorArg
from warpwright.dispatch.predicting import Predictor, predictions
from warpwright.propose.prompting.gpu.hints import applicable
from warpwright.propose.prompting.known import Known
from warpwright.propose.proposing import propose
from warpwright.propose.specialising import specialised
from warpwright.propose.summarising import lesson
from warpwright.propose.tuning.ranking import entrants
from warpwright.search.run import proposal_of
from warpwright.search.services import ModelServices
from warpwright.verify.ladder import climb
from warpwright.verify.opinion.answers import question

REFERENCE = "def forward(x):\n    return x * x + 1\n"
TASK = Task(
    name="square",
    arguments=(TensorArg(name="x", shape=("N",)),),
    outputs=(Output(name="y", shape=("N",)),),
    dtypes=("fp32",),
    cases=tuple(
        Case(name=f"n{n}", role=role, dims={"N": n}, dtype="fp32") for n, role in ((300, Role.CHECK), (7, Role.TIME))
    ),
    reference=Reference(source=REFERENCE),
)
RIGHT = Candidate(source="# a square\ny = x * x + 1\n", language="toy")
WRONG = Candidate(source="y = x * x + 2\n", language="toy")
TOO_LARGE = Evidence(
    candidate=WRONG.id,
    rung=EMULATE,
    verdict=Verdict.REFUTED,
    counterexample=Counterexample(kind="error", message="off by one everywhere", line=1),
)

pytestmark = pytest.mark.usefixtures("toy")


class Scripted:
    """Answers in order."""

    def __init__(self, *answers: str) -> None:
        self.name = "scripted"
        self.answers = list(answers)
        self.asked: list[Request] = []

    def complete(self, request: Request) -> Reply:
        self.asked.append(request)
        return Reply(text=self.answers.pop(0), model="scripted-1")


def verdicts(candidate: Candidate) -> dict[str, Verdict]:
    return {item.rung: item.verdict for item in climb(TASK, candidate).evidence}


def test_a_package_in_the_room_is_a_language() -> None:
    assert {"cuda", "toy"} <= set(languages.frontends())
    for name, language in (("a.toy", "toy"), ("a.b.toi", "toy"), ("a.cu", "cuda"), ("a.txt", "cuda")):
        assert languages.for_file(Path(name), RIGHT.source).name == language


def test_a_language_may_claim_only_some_of_the_files_with_its_ending(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(type(languages.of(RIGHT)), "claims", lambda _, text: "square" in text, raising=False)
    for name, text in (("a.toy", RIGHT.source), ("b.toy", WRONG.source), ("c.cu", "")):
        (tmp_path / name).write_text(text)
    assert languages.files_in(tmp_path) == [tmp_path / "a.toy", tmp_path / "c.cu"]
    assert languages.read(tmp_path / "a.toy", Flags()) == RIGHT
    assert languages.read(tmp_path / "b.toy", Flags()).language == "cuda"


def test_the_language_is_part_of_what_a_candidate_is() -> None:
    assert RIGHT.id != Candidate(source=RIGHT.source).id


def test_a_right_kernel_climbs_the_ladder() -> None:
    found = verdicts(RIGHT)
    assert list(found) == [SOURCE, SEAL, EMULATE]
    assert found[EMULATE] is Verdict.HOLDS
    assert Verdict.REFUTED not in found.values()


def test_a_wrong_kernel_is_refuted_by_the_emulator() -> None:
    assert verdicts(WRONG)[EMULATE] is Verdict.REFUTED


def test_what_is_no_source_of_the_language_is_refuted_at_once() -> None:
    found = climb(TASK, Candidate(source="PYBIND11_MODULE(a, m) {}", language="toy")).evidence
    assert [item.rung for item in found] == [SOURCE]
    assert "no line `y = ...`" in found[0].counterexample.message  # type: ignore[union-attr]


def test_what_is_sealed_carries_the_id_of_the_source_that_was_given() -> None:
    sealed, other = languages.seal_many(TASK, [RIGHT, Candidate(source="no module")])
    assert isinstance(sealed, Sealed)
    assert (sealed.manifest.candidate, sealed.source) == (RIGHT.id, RIGHT.source)
    assert not isinstance(other, Sealed)


def test_a_language_without_an_emulator_leaves_that_rung_undecided(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delattr(type(languages.of(RIGHT)), "emulate")
    emulated = climb(TASK, RIGHT).evidence[-1]
    assert (emulated.rung, emulated.verdict) == (EMULATE, Verdict.UNDECIDED)
    assert "no emulator for toy kernels" in (emulated.reason or "")


def test_a_new_kernel_is_asked_for_in_the_words_of_its_language() -> None:
    model = Scripted("Think.\n```toy\ny = x * x + 1\n```\n")
    done = propose(TASK, Brief(number=0, operator=Operator.TRANSLATE), model, written_in="toy", flags=Flags(gpu="l4"))
    assert done.candidate == Candidate(source="y = x * x + 1\n", language="toy", flags=Flags(gpu="l4"))
    prompt = model.asked[0].prompt
    for words in (
        "# toy kernels for square:forward",
        "# Your task: write a kernel",
        "```toy\n# square\ny = x\n```",
        "arithmetic on `x`, run on l4",
        "y = x * x",
    ):
        assert words in prompt
    for foreign in ("CUDA kernel", "PYBIND11_MODULE", "nvcc", "float"):
        assert foreign not in prompt.replace("float64", "")


def test_a_repair_is_in_the_language_of_what_is_repaired() -> None:
    edit = "<<<<<<< SEARCH\ny = x * x + 2\n=======\ny = x * x + 1\n>>>>>>> REPLACE\n"
    model, library = Scripted(edit), {WRONG.id: Known(candidate=WRONG, refutation=TOO_LARGE)}
    done = propose(TASK, Brief(number=1, operator=Operator.REPAIR, parents=(WRONG.id,)), model, library)
    assert done.candidate == Candidate(source="y = x * x + 1\n", language="toy")
    assert "# Your task: fix a kernel" in model.asked[0].prompt


def test_a_search_writes_new_kernels_in_the_language_of_its_run() -> None:
    model, arm = Scripted("```toy\ny = x * x + 1\n```"), Arm(model="m")
    services = ModelServices(
        task=TASK, flags=Flags(), models={"m": model}, evaluator=Predictor(TASK), written_in="toy"
    )  # fmt: skip
    assert services.given({RIGHT.id: Known(candidate=RIGHT)}, {}).hints == ()
    done = services.propose(Brief(number=0, operator=Operator.TRANSLATE, arm=arm), {}, ())
    assert done.candidate == Candidate(source="y = x * x + 1\n", language="toy")


def test_a_kernel_whose_work_cannot_be_counted_is_not_ranked() -> None:
    assert predictions(TASK, RIGHT) == "the cost model cannot count the work of toy kernels"


@pytest.mark.parametrize(
    ("answer", "problem"),
    [
        ("```python\nimport torch\n```", "no code block of the answer has a line `y = ...`"),
        ("I cannot.", "give the whole file between ```toy and ```"),
        ("```toy\n# rest of the code unchanged\ny = x\n```", "replaces code"),
        ("```toy\ny = (x\n```", "the line is not complete"),
    ],
)
def test_an_answer_that_cannot_be_used_is_told_so_in_the_words_of_the_language(answer: str, problem: str) -> None:
    model = Scripted(answer, answer)
    done = propose(TASK, Brief(number=0, operator=Operator.TRANSLATE), model, written_in="toy")
    assert done.candidate is None
    assert problem in (done.problem or "")
    assert problem in model.asked[1].prompt


def test_opinions_and_lessons_name_the_language() -> None:
    model = Scripted("Square first.")
    lesson(TASK, [], [], gpu_named("h200"), languages.of(RIGHT), model)
    assert "A search writes toy kernels" in model.asked[0].prompt
    assert "# Judge a toy kernel: numerics" in question(TASK, RIGHT, "numerics", "Look.").prompt


def test_a_kernel_has_a_fingerprint_and_traits() -> None:
    brief = Brief(number=0, operator=Operator.TRANSLATE)
    one, same, other = (
        proposal_of(brief, Candidate(source=source, language="toy"))
        for source in (RIGHT.source, "y = x*x + 1\n", "y = x + 1\n")
    )
    assert one.traits == (1, 0, 0, 3)
    assert one.fingerprint == same.fingerprint != other.fingerprint


def test_what_a_language_leaves_out_is_answered_in_a_sentence() -> None:
    toy, score = languages.of(RIGHT), Score(candidate=RIGHT.id, basis=Basis.MEASURED, value=0.1, by_case={"n7": 0.1})
    kernels = [Known(candidate=kernel, score=score) for kernel in (RIGHT, Candidate(source="// a"))]
    assert applicable(TASK, gpu_named("h200"), toy) == ()
    with pytest.raises(UsageError, match="the kernel has no tunable; this language has none"):
        entrants(RIGHT)
    with pytest.raises(UsageError, match="toy kernels cannot be merged"):
        specialised(TASK, kernels[:1])
    with pytest.raises(UsageError, match="several languages cannot be merged: cuda, toy"):
        specialised(TASK, kernels)
    with pytest.raises(Undecided, match="cannot count the work of toy kernels"):
        toy.count(TASK, RIGHT, languages.seal(TASK, RIGHT), TASK.cases[0])  # type: ignore[arg-type]


def test_a_file_is_checked_from_the_command_line(tmp_path: Path) -> None:
    (tmp_path / "ref.py").write_text(REFERENCE)
    (tmp_path / "wrong.toy").write_text(WRONG.source)
    task = ["--ref", f"{tmp_path / 'ref.py'}:forward", "--input", "300:fp32"]
    done = CliRunner().invoke(app, ["check", str(tmp_path / "wrong.toy"), *task, "--json"])
    found = json.loads(done.stdout)["dossier"]
    assert done.exit_code == 1
    assert found["candidate"] == WRONG.id
    assert [item["rung"] for item in found["evidence"]] == [SOURCE, SEAL, EMULATE]


def test_a_skeleton_is_shown_in_the_language_that_is_asked_for() -> None:
    shown = CliRunner().invoke(app, ["tasks", "show", "softmax", "--skeleton", "--language", "toy"])
    assert shown.stdout == "# softmax\ny = x\n"
    unknown = CliRunner().invoke(app, ["tasks", "show", "softmax", "--language", "fortran"])
    assert "there is no language 'fortran'; one of cuda, " in unknown.stderr
