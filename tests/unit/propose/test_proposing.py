"""From brief to candidate: the answer, the one re-ask, the failures, and every call on record."""

from __future__ import annotations

from collections.abc import Sequence

import pytest

from warpwright import languages
from warpwright.core.candidate import Candidate, Flags
from warpwright.core.codec import dumps, loads
from warpwright.core.errors import ModelFailed
from warpwright.core.gpus.table import gpu_named
from warpwright.core.protocols import Reply, Request
from warpwright.core.records.evidence import Counterexample, Evidence, Verdict
from warpwright.core.records.search import Arm, Basis, Brief, Call, Fate, Member, Operator, Score
from warpwright.models.api.failures import AttemptFailed, Failure, answered
from warpwright.propose.answers.asking import Noted
from warpwright.propose.prompting.known import Known
from warpwright.propose.proposing import propose
from warpwright.propose.summarising import lesson, profile_sentence
from warpwright.tasks import load

FILE = """#include <torch/extension.h>
__global__ void k(float* y) { y[0] = 1; }
torch::Tensor forward(torch::Tensor x) { return x; }
PYBIND11_MODULE(TORCH_EXTENSION_NAME, m) { m.def("forward", &forward); }
"""
GOOD = f"```cuda\n{FILE}```"
CUDA = languages.named("cuda")
(TASK,) = load("layernorm:forward")
TRANSLATE = Brief(
    number=3, operator=Operator.TRANSLATE, arm=Arm(model="m", effort="high"), temperature=0.7
)  # fmt: skip


class Scripted:
    """Answers in order; an answer that is an exception is raised."""

    def __init__(self, *answers: str | ModelFailed) -> None:
        self.name = "scripted"
        self.answers: list[str | ModelFailed] = list(answers)
        self.asked: list[Request] = []

    def complete(self, request: Request) -> Reply:
        self.asked.append(request)
        answer = self.answers.pop(0)
        if isinstance(answer, ModelFailed):
            raise answer
        return Reply(text=answer, model="scripted-1", usage={"output": 9}, cost_usd=0.01, seconds=2.0)


def test_an_answer_becomes_a_candidate() -> None:
    model = Scripted(GOOD)
    done = propose(TASK, TRANSLATE, model, flags=Flags(gpu="l4"))
    assert done.candidate == Candidate(source=FILE, flags=Flags(gpu="l4"))
    assert done.problem is None
    (request,) = model.asked
    assert (request.purpose, request.temperature, request.effort) == ("translate", 0.7, "high")
    assert request.schema is None


def test_every_call_is_on_record() -> None:
    model = Scripted("no code", GOOD)
    first, second = propose(TASK, TRANSLATE, model).calls
    assert (first.brief, first.purpose, first.reply) == (3, "translate", "no code")
    assert (second.purpose, second.reply, second.cost_usd) == ("translate-again", GOOD, 0.01)
    assert (first.model, first.usage, first.seconds) == ("scripted-1", {"output": 9}, 2.0)
    assert first.id != second.id
    assert loads(Call, dumps(first)) == first


def test_one_re_ask_that_says_what_was_wrong_and_shows_the_answer() -> None:
    model = Scripted("just words, sorry", GOOD)
    assert propose(TASK, TRANSLATE, model).candidate == Candidate(source=FILE)
    again = model.asked[1].prompt
    assert again.startswith(model.asked[0].prompt.rstrip())
    assert "could not be used: the answer has no code block" in again
    assert "just words, sorry" in again


def test_after_the_second_answer_there_is_a_problem_not_a_fault() -> None:
    model = Scripted("words", "more words", GOOD)
    done = propose(TASK, TRANSLATE, model)
    assert done.candidate is None
    assert done.problem is not None
    assert "no code block" in done.problem
    assert not done.faulted
    assert len(done.calls) == 2


@pytest.mark.parametrize("before", [(), ("words",)])
def test_a_model_that_fails_is_a_fault(before: Sequence[str]) -> None:
    done = propose(TASK, TRANSLATE, Scripted(*before, ModelFailed("timeout", "no answer within 60 s")))
    assert done.faulted
    assert done.candidate is None
    assert done.problem == "no answer within 60 s"
    assert done.calls[-1].error == "no answer within 60 s"
    assert done.calls[-1].reply is None
    assert done.calls[-1].cost_usd is None


@pytest.mark.parametrize("kind", ["refused", "truncated", "malformed"])
def test_what_a_model_said_instead_of_code_is_its_own_problem(kind: str) -> None:
    failure = AttemptFailed(kind, "no use", cost_usd=0.2, usage={"input": 4, "output": 6})
    done = propose(TASK, TRANSLATE, Scripted(failure))
    assert (done.faulted, done.problem) == (False, "no use")
    (call,) = done.calls
    assert (call.cost_usd, dict(call.usage), call.error, call.reply) == (0.2, {"input": 4, "output": 6}, "no use", None)


def test_attempts_before_an_answer_are_calls_of_their_own() -> None:
    model = Scripted(GOOD)
    late = Failure(kind="timeout", message="too late", seconds=60.0)
    cut = Failure(kind="server", message="gave up", cost_usd=0.3, usage={"input": 5}, seconds=1.0)
    model.complete = lambda request: answered(Scripted(GOOD).complete(request), (late, cut))  # type: ignore[method-assign]
    done = propose(TASK, TRANSLATE, model)
    assert done.candidate is not None
    assert [(call.error, call.cost_usd, call.seconds) for call in done.calls] == [
        ("too late", None, 60.0),
        ("gave up", 0.3, 1.0),
        (None, 0.01, 2.0),
    ]
    assert len({call.id for call in done.calls}) == 3
    assert {call.brief for call in done.calls} == {TRANSLATE.number}


def test_a_call_is_told_as_soon_as_it_is_over() -> None:
    told: list[tuple[str, int]] = []
    model = Scripted("no code", GOOD)
    done = propose(TASK, TRANSLATE, model, note=lambda call: told.append((call.id, len(model.asked))))
    assert told == [(call.id, asked) for asked, call in enumerate(done.calls, start=1)]


def test_a_remembered_answer_keeps_its_id_and_a_failure_is_a_new_one() -> None:
    times = iter(range(100))
    first = Noted(Scripted(ModelFailed("timeout", "late"), GOOD), 3, clock=lambda: float(next(times)) ** 2)
    with pytest.raises(ModelFailed):
        first.complete(Request(prompt="a", purpose="translate"))
    first.complete(Request(prompt="a", purpose="translate"))
    again = Noted(Scripted(ModelFailed("timeout", "late"), GOOD), 3, clock=lambda: float(next(times)) ** 2)
    with pytest.raises(ModelFailed):
        again.complete(Request(prompt="a", purpose="translate"))
    again.complete(Request(prompt="a", purpose="translate"))
    assert first.calls[0].id != again.calls[0].id
    assert first.calls[1] == again.calls[1]


WRONG = Candidate(source=FILE.replace("= 1", "= 2"))


def refuted(message: str, **more: object) -> dict[str, Known]:
    evidence = Evidence(
        candidate=WRONG.id,
        rung="emulate",
        verdict=Verdict.REFUTED,
        counterexample=Counterexample(kind="error", message=message, **more),  # type: ignore[arg-type]
    )
    return {WRONG.id: Known(candidate=WRONG, refutation=evidence)}


REPAIR = Brief(number=4, operator=Operator.REPAIR, parents=(WRONG.id,))
EDIT = (
    "<<<<<<< SEARCH\n__global__ void k(float* y) { y[0] = 2; }\n=======\n"
    "__global__ void k(float* y) { y[0] = 1; }\n>>>>>>> REPLACE\n"
)


def test_a_repair_edits_its_parent_after_one_call() -> None:
    model = Scripted(EDIT)
    done = propose(TASK, REPAIR, model, refuted("1 of 1 elements wrong", line=2))
    assert done.candidate == Candidate(source=FILE)
    assert "Line 2 (`__global__ void k(float* y) { y[0] = 2; }`): 1 of 1 elements wrong" in model.asked[0].prompt


def test_a_rambling_report_is_summarised_by_a_call_first() -> None:
    model = Scripted("Line 2: y[0] must be 1.", EDIT)
    done = propose(TASK, REPAIR, model, refuted("word " * 400))
    assert done.candidate == Candidate(source=FILE)
    assert [call.purpose for call in done.calls] == ["summarise_error", "repair"]
    assert "2: __global__ void k" in model.asked[0].prompt
    assert "Line 2: y[0] must be 1." in model.asked[1].prompt
    assert "word word" not in model.asked[1].prompt


def test_a_translation_cannot_edit() -> None:
    done = propose(TASK, TRANSLATE, Scripted(EDIT, EDIT), refuted("x"))
    assert done.problem is not None
    assert "no kernel to edit" in done.problem


def test_a_profile_becomes_one_sentence() -> None:
    model = Scripted("Bound by latency:\n31 % of peak. " + "and so on " * 40)
    sentence = profile_sentence(TASK, "dram__throughput 31 %\n" * 4000, gpu_named("h200"), CUDA, model)
    assert sentence.startswith("Bound by latency: 31 % of peak.")
    assert len(sentence.split()) <= 36
    assert "characters left out here" in model.asked[0].prompt
    assert len(model.asked[0].prompt) < 14000


def test_results_become_a_lesson() -> None:
    member = Member(
        brief=Brief(number=1, operator=Operator.OPTIMISE, hint="one-pass"),
        generation=1,
        fate=Fate.IMPROVED,
        score=Score(candidate="c", basis=Basis.MEASURED, value=0.25, profile="Bound by memory."),
    )
    failed = Member(
        brief=Brief(number=2, operator=Operator.REPAIR),
        generation=1,
        fate=Fate.REFUTED,
        refuted_by="emulate",
        issue="barrier missing",
    )
    model = Scripted("Keep rows in registers.")
    assert (
        lesson(TASK, [member, failed], ["Two passes lose."], gpu_named("h200"), CUDA, model)
        == "Keep rows in registers."
    )
    prompt = model.asked[0].prompt
    assert "1. optimise, idea: Read the data once" in prompt
    assert "correct, 1.28 times the best baseline (measured); Bound by memory." in prompt
    assert "2. repair: wrong, found by emulate: barrier missing" in prompt
    assert "- Two passes lose." in prompt
