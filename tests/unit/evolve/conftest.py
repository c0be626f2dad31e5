"""Two ways to make records: a story told line by line, and a world that answers whatever is asked of it."""

from __future__ import annotations

import random
from dataclasses import replace

import pytest

from warpwright.core.records.evidence import Counterexample, Dossier, Evidence, Fault, Verdict
from warpwright.core.records.judged import Judged
from warpwright.core.records.search import (
    Action,
    Arm,
    Basis,
    Brief,
    Call,
    Decision,
    Lesson,
    Operator,
    Proposal,
    Run,
    Score,
    Session,
)
from warpwright.evolve.decide import decide
from warpwright.evolve.fold import fold
from warpwright.evolve.inputs import Ceiling, SearchInputs, Tunables
from warpwright.evolve.policy import Policy
from warpwright.evolve.work import unfinished

RUN = Run(id="r", task="layernorm:forward", seed=7, started="2026-01-01T00:00:00Z", warpwright="0")
ARMS = (Arm(model="small"), Arm(model="large", effort="high"))
SPACE = {"BLOCK": (64, 128, 256, 512), "VECTOR": (1, 2, 4)}


def evidence(candidate, verdict, rung="emulate", message="element 3 differs"):
    shown = Counterexample(kind="mismatch", message=message, line=12) if verdict is Verdict.REFUTED else None
    return Evidence(candidate=candidate, rung=rung, verdict=verdict, counterexample=shown)


class Story:
    """Records, told in short sentences. Candidates are named after their briefs: k0, k1, ..."""

    def __init__(self):
        self.records = []
        self.briefs = 0
        self.decisions = 0
        self.generation = 0

    def decide(self, action, briefs=(), candidates=(), generation=None):
        self.generation = self.generation if generation is None else generation
        decision = Decision(
            number=self.decisions,
            generation=self.generation,
            action=action,
            reason="told so",
            seed=0,
            briefs=tuple(briefs),
            candidates=tuple(candidates),
        )
        self.decisions += 1
        self.records.append(decision)
        return self

    def breed(self, *briefs, generation=None):
        """Each brief is a dict of its fields."""
        fields = ({"operator": Operator.OPTIMISE, "arm": ARMS[0], **brief} for brief in briefs)
        made = [Brief(number=self.briefs + place, **brief) for place, brief in enumerate(fields)]
        self.briefs += len(made)
        return self.decide(Action.BREED, made, generation=generation)

    def answer(self, number, candidate=None, **fields):
        fields.setdefault("fingerprint", f"print of {number}")
        self.records.append(Proposal(brief=number, candidate=candidate or f"k{number}", **fields))
        return self

    def fault(self, number):
        self.records.append(Proposal(brief=number, faulted=True))
        return self

    def call(self, number, usd=0.01, **fields):
        usage = {"input": 100, "output": 50}
        call = Call(id=f"c{len(self.records)}", brief=number, purpose="p", model="small", prompt="p", reply="r",
                    usage=usage, cost_usd=usd, seconds=1.0)  # fmt: skip
        self.records.append(replace(call, **fields))
        return self

    def climb(self, candidate, verdict=Verdict.HOLDS, faults=(), **fields):
        found = (evidence(candidate, verdict, **fields),)
        self.records.append(Dossier(candidate=candidate, task="t", evidence=found, faults=faults))
        return self

    def refute(self, candidate, **fields):
        return self.climb(candidate, Verdict.REFUTED, **fields)

    def score(self, candidate, value, **fields):
        self.records.append(Score(candidate=candidate, value=value, **{"basis": Basis.MEASURED, **fields}))
        return self

    def judge(self, candidate, **fields):
        self.records.append(Judged(job=candidate, label=candidate, task="t", candidate=candidate, **fields))
        return self

    def right(self, number, value, **fields):
        """The whole way of a candidate that is right: answer, dossier, score."""
        return self.answer(number, **fields).climb(f"k{number}").score(f"k{number}", value)

    def wrong(self, number):
        return self.answer(number).refute(f"k{number}")

    def evaluate(self, *candidates):
        return self.decide(Action.EVALUATE, candidates=candidates)

    def snapshot(self):
        return fold(RUN, self.records)

    def decision(self, policy=None, given=None):
        return decide(self.snapshot(), policy or Policy(arms=ARMS), given or SearchInputs())


class World:
    """Answers one piece of work at a time. What it says of a brief depends on the brief's number and the seed alone."""

    seconds_of_an_evaluation = 5.0

    def __init__(self, seed, policy, *, tasks_given=None, records=(), timeless=0.0):
        """`timeless` is the share of correct candidates whose time can be neither measured nor predicted."""
        self.seed, self.policy, self.records, self.timeless = seed, policy, list(records), timeless
        ceilings = {arm: Ceiling(usd=0.02 * place + 0.02, tokens=400) for place, arm in enumerate(ARMS)}
        self.base = tasks_given or SearchInputs(hints=("vectorise", "unroll", "fuse"), space=SPACE)
        self.base = replace(self.base, ceilings=ceilings)

    def luck(self, *key):
        return random.Random(f"{self.seed}/{key}")

    def given(self, snapshot):
        """Every second candidate declares tunables."""
        open_ = [item for item in snapshot.members if item.candidate and item.brief.number % 2]
        settings = {item.candidate: dict(item.brief.genome) or {"BLOCK": 128, "VECTOR": 2} for item in open_}
        tunables = {name: Tunables(space=SPACE, genome=genome) for name, genome in settings.items()}
        return replace(self.base, tunables=tunables)

    def play(self, most=100_000):
        while len(self.records) < most and not self.stopped:
            for record in self.next_records():
                self.append(record)
        return self

    @property
    def stopped(self):
        return bool(self.records) and getattr(self.records[-1], "action", None) is Action.STOP

    def append(self, record):
        """As an archive does: what is there already is not appended twice."""
        if record not in self.records:
            self.records.append(record)

    def next_records(self):
        snapshot = fold(RUN, self.records)
        work = unfinished(snapshot)
        if work.ask:
            return self.answered(work.ask[0])
        if work.verify:
            return [self.climbed(work.verify[0])]
        if work.evaluate:
            return [self.evaluated(work.evaluate[0])]
        if work.reflect:
            return [Lesson(decision=work.reflect.number, text="wider loads help")]
        return [decide(snapshot, self.policy, self.given(snapshot))]

    def answered(self, brief):
        luck = self.luck("answer", brief.number)
        found = []
        if brief.arm:
            ceiling = self.base.ceilings[brief.arm]
            usage = {"input": luck.randrange(200), "output": luck.randrange(200)}
            found.append(Call(id=f"c{brief.number}", brief=brief.number, purpose="p", model=brief.arm.model, prompt="p",
                              usage=usage, cost_usd=luck.random() * ceiling.usd, seconds=1.0))  # fmt: skip
        draw = luck.random()
        if draw > 0.9:
            found.append(Session(seconds=1.0, reason=f"answered {brief.number}"))
        if draw < 0.05:
            return [*found, Proposal(brief=brief.number, faulted=True)]
        if draw < 0.1:
            return [*found, Proposal(brief=brief.number, problem="no code")]
        earlier = f"k{luck.randrange(brief.number)}" if brief.number and draw < 0.15 else None
        traits = tuple(luck.randrange(4) for _ in range(4))
        name = f"k{brief.number}"
        proposal = Proposal(brief=brief.number, candidate=name, fingerprint=name, traits=traits, duplicate_of=earlier)
        return [*found, proposal]

    def climbed(self, candidate):
        draw = self.luck("climb", candidate).random()
        verdict = Verdict.REFUTED if draw < 0.4 else Verdict.HOLDS
        faults = (Fault(where="emulate", message="no disk"),) if draw > 0.97 else ()
        return Dossier(candidate=candidate, task="t", evidence=(evidence(candidate, verdict),), faults=faults)

    def evaluated(self, candidate):
        luck = self.luck("judge", candidate)
        if luck.random() < 0.1:
            found = (evidence(candidate, Verdict.REFUTED, rung="judge"),)
            return Judged(
                job=candidate, label="", task="t", candidate=candidate, evidence=found, seconds={"check": 2.0}
            )
        if luck.random() < self.timeless:
            return Judged(job=candidate, label="", task="t", candidate=candidate)
        by_case = {case: luck.gauss(0.0, 0.5) for case in ("small", "large")}
        value = sum(by_case.values()) / 2
        seconds = self.seconds_of_an_evaluation
        return Score(candidate=candidate, basis=Basis.MEASURED, value=value, by_case=by_case, gpu_seconds=seconds)


@pytest.fixture
def story():
    return Story()


@pytest.fixture(scope="session")
def world():
    """The class: tests build as many worlds as they need."""
    return World


@pytest.fixture(scope="session")
def stories():
    return Story
