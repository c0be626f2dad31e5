"""The options of a search, and the settings derived from them."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path
from typing import TypedDict

from warpwright import languages
from warpwright.app.given import Inputs, TaskLike, subject_of
from warpwright.core.candidate import CUDA, Flags
from warpwright.core.gpus.table import gpu_named
from warpwright.core.records.search import Arm, Run
from warpwright.evolve.policy import Budget, Policy
from warpwright.search.settings import Settings


class Asking(TypedDict, total=False):
    """Who writes kernels, their cost, and the GPU; the same for every kind of search."""

    inputs: Inputs
    models: Sequence[str]
    """Models such as "anthropic:NAME"; without any the composer writes kernels."""
    efforts: Sequence[str]
    """How hard models think."""
    budget: float | None
    """Dollars that are never passed."""
    minutes: float | None
    gpu: str
    fast_math: bool
    language: str
    """The language that models write new kernels in."""
    dispatch: str
    """One of auto, local, predict and bundle:DIR."""
    output: str | Path | None
    """A file that always holds the best kernel so far."""
    record: str | Path | None
    """A file for all questions and answers, for a replay."""
    stream: bool | None
    per_minute: int | None
    timeout: float | None
    """Seconds for one answer."""
    allow_unpriced: bool


def settings_for(task: TaskLike, policy: Policy, asking: Asking) -> Settings:
    """The settings of a search; tasks that are named are not loaded yet."""
    name, inputs, reference = _named(task, asking.get("inputs", ()))
    arms = tuple(
        Arm(model=model, effort=effort)
        for model in asking.get("models", ())
        for effort in asking.get("efforts", ()) or (None,)
    )
    minutes, record, output = asking.get("minutes"), asking.get("record"), asking.get("output")
    limits = Budget(usd=asking.get("budget"), wall_seconds=None if minutes is None else minutes * 60)
    flags = Flags(gpu=gpu_named(asking.get("gpu", "h200")).name, fast_math=asking.get("fast_math", False))
    return Settings(
        task=name,
        inputs=inputs,
        reference=reference,
        flags=flags,
        policy=replace(policy, arms=arms, budget=limits),
        dispatch=asking.get("dispatch", "auto"),
        stream=asking.get("stream"),
        per_minute=asking.get("per_minute"),
        answer_seconds=asking.get("timeout"),
        allow_unpriced=asking.get("allow_unpriced", False),
        language=asking.get("language", CUDA),
        record=str(record) if record else None,
        output=str(output) if output else None,
    )


def _named(task: TaskLike, inputs: Inputs) -> tuple[str, tuple[str, ...], str | None]:
    """A name and inputs from which the task can be loaded again when the run is resumed."""
    from warpwright.tasks.given.examples import descriptions

    if isinstance(task, str | Path):
        return str(task), descriptions(inputs), None
    subject = subject_of(task, inputs).named()
    return subject.name, subject.inputs, subject.source


def extended(
    settings: Settings,
    *,
    budget: float | None = None,
    minutes: float | None = None,
    generations: int | None = None,
    stream: bool | None = None,
    per_minute: int | None = None,
    timeout: float | None = None,
) -> Settings:
    """The settings of a run with other limits, and other ways of asking models, where they are given."""
    limits, policy = settings.policy.budget, settings.policy
    limits = limits if budget is None else replace(limits, usd=budget)
    limits = limits if minutes is None else replace(limits, wall_seconds=minutes * 60)
    policy = replace(policy, budget=limits)
    policy = policy if generations is None else replace(policy, generations=generations)
    return replace(
        settings,
        policy=policy,
        stream=settings.stream if stream is None else stream,
        per_minute=settings.per_minute if per_minute is None else per_minute,
        answer_seconds=settings.answer_seconds if timeout is None else timeout,
    )


def default_output(task: str, language: str) -> Path:
    """The file for the best kernel of a task, in the folder of the caller."""
    name = Path(task).name.replace(":", "-").removesuffix(".py").replace(".py-", "-")
    return Path(languages.file_name(f"{name}.best", language))


def resume_command(run: Run, archive: str | Path | None) -> str:
    """The command line that goes on with a run."""
    return f"warpwright optimize --resume {run.id}" + (f" --archive {archive}" if archive else "")
