"""Builds the objects of a run from its settings."""

from __future__ import annotations

import datetime
import math
import os
import secrets
from collections.abc import Iterable, Mapping
from dataclasses import replace
from functools import partial
from pathlib import Path
from typing import Any

from warpwright import __version__, languages
from warpwright.archive.store import Archive
from warpwright.compose import CannotCompose, Composable, plan
from warpwright.core.candidate import Candidate
from warpwright.core.codec import CodecError, content_id, decode, encode
from warpwright.core.errors import UsageError
from warpwright.core.protocols import Model, Request
from warpwright.core.records.judged import JudgeOptions
from warpwright.core.records.search import Action, Arm, Brief, Call, Decision, Operator, Run
from warpwright.core.task import Task
from warpwright.dispatch.evaluating import Bundled, Local
from warpwright.dispatch.predicting import Predictor
from warpwright.evolve.decide import decide
from warpwright.evolve.inputs import Ceiling
from warpwright.evolve.policy import Policy
from warpwright.models.named import Terms, model_named
from warpwright.models.spending.limits import DEFAULT_MAX_TOKENS, Budget
from warpwright.models.spending.prices import Prices, load_prices, most_tokens
from warpwright.propose.proposing import MOST_TOKENS
from warpwright.propose.tuning.ranking import Entrant, entrants
from warpwright.search.run import Decide, SearchRun, Watcher, proposal_of
from warpwright.search.services import Evaluator, ModelServices
from warpwright.search.settings import Settings
from warpwright.search.tuning import Tuning
from warpwright.tasks import load
from warpwright.tasks.function import function_task

LONGEST_PROMPT = 24_000
"""Tokens: an upper bound on the length of our prompts, to estimate costs before anything is asked."""
_LONGEST_SCHEMA = 2_000
"""Tokens of an answer's JSON schema, which is sent with a request but not recorded."""
_MOST_LESSONS = 4
_MOST_REMEMBERED = 64
"""Memories that are looked through for lessons: scores of the same function are found by the same words."""
_QUESTIONS = 2
"""Requests per proposal at most: one is repeated if its answer cannot be parsed."""


def begin(archive: Archive, settings: Settings, seed: int | None = None, start: Candidate | None = None) -> Run:
    """Creates and records a new run, after it has checked what the user may have to correct."""
    task = task_of(settings)
    start = start or _read(settings.start, settings)
    if start is None:
        _check_authors(task, settings)
    if settings.output is not None:
        _check_output(Path(settings.output))
    _models(settings, spent=0.0)
    _evaluator(task, settings, secret=0)
    _read(settings.forward, settings)
    settings = replace(settings, lessons=earlier_lessons(archive, task) if settings.policy.arms else ())
    run = _recorded_run(archive, settings, task, secrets.token_hex(4), seed)
    if start is not None:
        enter_start(archive, run, start)
    return run


def earlier_lessons(archive: Archive, task: Task) -> tuple[str, ...]:
    """Returns lessons of earlier runs for the same function in any direction, the best matches first."""
    function = task.key.rpartition(":")[0]
    found = archive.search(task.key, limit=_MOST_REMEMBERED)
    taught = [item for item in found if item.lesson and item.task.rpartition(":")[0] == function]
    return tuple(f"{item.lesson} (From an earlier search for {item.task}.)" for item in taught[:_MOST_LESSONS])


def _check_authors(task: Task, settings: Settings) -> None:
    """Checks that a model or the composer can write the first kernel."""
    if settings.policy.arms:
        return
    ask = "give a model to ask, for example --model anthropic:NAME"
    if not settings.policy.composer:
        raise UsageError(f"without the composer there is no author of kernels; {ask}")
    try:
        plan(task, settings.flags.gpu)
    except CannotCompose as error:
        raise UsageError(f"without a model {task.key} cannot be written ({error.what}); {ask}") from None


def _check_output(file: Path) -> None:
    """Checks the output file before any cost arises, not when the first correct kernel is to be written."""
    folder = file.resolve().parent
    if not folder.is_dir() or not os.access(folder, os.W_OK) or file.is_dir():
        raise UsageError(f"the best kernel cannot be kept in {file}; name a file in a folder that can be written to")


def settings_of(run: Run) -> Settings:
    try:
        found: Settings = decode(Settings, run.settings)
    except CodecError as error:
        raise UsageError(
            f"run {run.id} was created by Warpwright {run.warpwright} and cannot be read: {error}"
        ) from None
    return found


def task_of(settings: Settings) -> Task:
    if settings.reference is None:
        return load(settings.task, inputs=settings.inputs)[0]
    file, _, entry = settings.task.partition(":")
    return function_task(settings.reference, Path(file), entry, settings.inputs, None)


def search_run(archive: Archive, run: Run, watcher: Watcher) -> SearchRun:
    """Builds a session of the run with everything that it needs."""
    settings = settings_of(run)
    task = task_of(settings)
    models = _models(settings, spent_usd(archive.records(run.id, Call), load_prices()))
    services = ModelServices(
        task=task,
        flags=settings.flags,
        models={arm.model: models[arm.model] for arm in settings.policy.arms},
        opinions=models[settings.opinions] if settings.opinions else None,
        evaluator=_evaluator(task, settings, run.seed),
        written_in=settings.language,
        composer=composer_of(task, settings.flags.gpu) if settings.policy.composer else None,
        forward=_read(settings.forward, settings),
        lessons=settings.lessons,
        ceilings={arm: ceiling(arm) for arm in settings.policy.arms},
        note=partial(archive.append, run.id),
    )
    return SearchRun(
        run=run,
        task=task,
        archive=archive,
        policy=evolving(settings.policy),
        services=services,
        watcher=watcher,
        output=Path(settings.output) if settings.output else None,
        workers=settings.workers,
    )


def evolving(policy: Policy) -> Decide:
    """Evolution as the policy of the straight line."""
    return lambda snapshot, given: decide(snapshot, policy, given)


def tuning_run(
    archive: Archive, settings: Settings, kernel: Candidate, watcher: Watcher, *, most: int, merge: bool
) -> tuple[SearchRun, Tuning]:
    """Builds a session that tries settings of a kernel, and its policy.

    The same kernel for the same task always maps to the same run and thus to its earlier results.
    """
    task, tried = task_of(settings), entrants(kernel, most)
    run = _tuning_run(archive, settings, task, tried[0])
    evaluator = _evaluator(task, settings, run.seed)
    if not isinstance(evaluator, Local | Predictor):
        raise UsageError(
            "tuning goes back and forth between settings and a GPU, so that must be here; leave --dispatch"
        )
    services = ModelServices(task=task, flags=settings.flags, models={}, evaluator=evaluator, predictor=Predictor(task))
    tuning = Tuning(tried=tried, merge=merge, measured=isinstance(evaluator, Local))
    session = SearchRun(run=run, task=task, archive=archive, policy=tuning.decide, services=services, watcher=watcher,
        keeps_faults=False,
    )  # fmt: skip
    return session, tuning


def _tuning_run(archive: Archive, settings: Settings, task: Task, first: Entrant) -> Run:
    name = f"tune-{content_id([task.id, first.candidate.id, __version__])[:12]}"
    run = next((run for run in archive.runs() if run.id == name), None)
    run = run or _recorded_run(archive, settings, task, name, None)
    if not archive.records(run.id, Decision):
        enter_start(archive, run, first.candidate, first.settings)
    return run


def _recorded_run(archive: Archive, settings: Settings, task: Task, name: str, seed: int | None) -> Run:
    run = Run(
        id=name,
        task=task.key,
        seed=secrets.randbits(62) if seed is None else seed,
        settings=encode(settings),
        started=datetime.datetime.now(datetime.UTC).isoformat(timespec="seconds"),
        warpwright=__version__,
    )
    archive.begin(run)
    return run


def composer_of(task: Task, gpu: str) -> Composable | None:
    try:
        return plan(task, gpu)
    except CannotCompose:
        return None


def ceiling(arm: Arm) -> Ceiling:
    """The most that one proposal of this arm can cost."""
    usd = load_prices().ceiling(arm.model, LONGEST_PROMPT, MOST_TOKENS)
    return Ceiling(usd=None if usd is None else usd * _QUESTIONS, tokens=(LONGEST_PROMPT + MOST_TOKENS) * _QUESTIONS)


def _models(settings: Settings, spent: float) -> Mapping[str, Model]:
    """Builds the models. Earlier expenses count: a resumed run has only the rest of its budget."""
    usd = settings.policy.budget.usd
    if usd == 0 and settings.policy.arms:
        raise UsageError(
            "a budget of $0 pays for no question; raise it, or leave --model out and let kernels be composed"
        )
    terms = Terms(
        budget=None if usd is None else Budget(max(usd - spent, 0.0)),
        allow_unpriced=settings.allow_unpriced,
        at_once=settings.workers,
        per_minute=settings.per_minute,
        stream=settings.stream,
        deadline_s=settings.answer_seconds,
        record=Path(settings.record) if settings.record else None,
    )
    names = dict.fromkeys([arm.model for arm in settings.policy.arms] + [settings.opinions or ""])
    return {name: model_named(name, folder=Path.cwd(), terms=terms) for name in names if name}


def spent_usd(calls: Iterable[Call], prices: Prices) -> float:
    """The amount to subtract from a budget.

    A call that was sent but has no known cost counts with its upper bound; calls of a model without a price do not
    count.
    """
    return math.fsum(_most(call, prices) if call.cost_usd is None else call.cost_usd for call in calls)


def _most(call: Call, prices: Prices) -> float:
    tokens = most_tokens(Request(prompt=call.prompt, purpose=call.purpose)) + _LONGEST_SCHEMA
    return prices.ceiling(call.model, tokens, DEFAULT_MAX_TOKENS) or 0.0


def _evaluator(task: Task, settings: Settings, secret: int) -> Evaluator:
    kind, _, place = settings.dispatch.partition(":")
    match kind:
        case "bundle" if place:
            return Bundled(task, JudgeOptions(), secret, Path(place))
        case "local":
            return Local(task, JudgeOptions(), secret)
        case "predict":
            return Predictor(task)
        case "auto":
            from warpwright.judge.judging import gpu_is_here

            return Local(task, JudgeOptions(), secret) if gpu_is_here() else Predictor(task)
    raise UsageError(f"'{settings.dispatch}' is no place to run; one of auto, local, predict and bundle:DIR")


def _read(name: str | None, settings: Settings) -> Candidate | None:
    return languages.read(Path(name), settings.flags) if name else None


def enter_start(archive: Archive, run: Run, candidate: Candidate, genome: Mapping[str, Any] | None = None) -> None:
    """Records a kernel of the user's as the answer to a first brief."""
    brief = Brief(number=0, operator=Operator.TRANSLATE, genome=genome or {})
    reason = "The user gave a kernel to start from."
    with archive.transaction():
        archive.keep(candidate)
        archive.append(
            run.id,
            Decision(number=0, generation=0, action=Action.BREED, reason=reason, seed=run.seed, briefs=(brief,)),
        )
        archive.append(run.id, proposal_of(brief, candidate))
