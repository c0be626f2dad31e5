"""Exceptions, and the exit code each one ends the command line with.

WarpwrightError
├── UsageError          2   the user can correct it: missing file, wrong key, shape that does not fit
│   └── TaskError       2   a task definition is broken; names file, key and remedy
├── Undecided           3   no decision is possible: unsupported feature, no compiler, no GPU
├── ModelFailed         4   a language model gave no answer: no key, no server, refused, too late, out of budget
└── OurFault            4   Warpwright failed; carries a Fault, never becomes a verdict

A refuted candidate (exit code 1) is not an exception: it is Evidence.
"""

from __future__ import annotations

from enum import IntEnum
from typing import Any

from warpwright.core.records.evidence import Fault


class Exit(IntEnum):
    HOLDS = 0
    REFUTED = 1
    WRONG_USE = 2
    UNDECIDED = 3
    OUR_FAULT = 4


class WarpwrightError(Exception):
    """Base of all exceptions raised on purpose. The message is one clear sentence."""

    exit_code = Exit.OUR_FAULT


class UsageError(WarpwrightError):
    exit_code = Exit.WRONG_USE


class TaskError(UsageError):
    """A task cannot be used as written."""

    def __init__(self, where: str, key: str | None, problem: str, remedy: str = "") -> None:
        self.where, self.key, self.problem, self.remedy = where, key, problem, remedy
        place = f"{where}, {key}" if key else where
        super().__init__(f"{place}: {problem}" + (f"; {remedy}" if remedy else ""))

    def __reduce__(self) -> tuple[type[TaskError], tuple[str, str | None, str, str]]:
        return TaskError, (self.where, self.key, self.problem, self.remedy)


class Undecided(WarpwrightError):
    exit_code = Exit.UNDECIDED


class ModelFailed(WarpwrightError):
    """A language model gave no answer. `kind` is the reason in one word, for programs."""

    def __init__(self, kind: str, message: str, *, retryable: bool = False) -> None:
        self.kind, self.retryable = kind, retryable
        super().__init__(message)

    def __reduce__(self) -> tuple[Any, ...]:
        return _model_failed, (self.kind, str(self), self.retryable)


def _model_failed(kind: str, message: str, retryable: bool) -> ModelFailed:
    return ModelFailed(kind, message, retryable=retryable)


class OurFault(WarpwrightError):
    exit_code = Exit.OUR_FAULT

    def __init__(self, fault: Fault) -> None:
        self.fault = fault
        super().__init__(f"{fault.where}: {fault.message}")

    def __reduce__(self) -> tuple[type[OurFault], tuple[Fault]]:
        return OurFault, (self.fault,)
