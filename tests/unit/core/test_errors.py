"""Errors carry an exit code and one sentence, and survive pickling from a worker process."""

from __future__ import annotations

import pickle

import pytest

from warpwright.core.errors import Exit, OurFault, TaskError, Undecided, UsageError, WarpwrightError
from warpwright.core.records.evidence import Fault

EXAMPLES = [
    (WarpwrightError("odd"), Exit.OUR_FAULT),
    (UsageError("no such file"), Exit.WRONG_USE),
    (TaskError("task.toml", "dtypes", "unknown dtype", "use fp32"), Exit.WRONG_USE),
    (TaskError("task.toml", None, "not TOML"), Exit.WRONG_USE),
    (Undecided("no GPU here"), Exit.UNDECIDED),
    (OurFault(Fault(where="nvcc", message="vanished", retryable=True)), Exit.OUR_FAULT),
]


@pytest.mark.parametrize(("error", "code"), EXAMPLES, ids=lambda value: type(value).__name__)
def test_each_kind_has_its_exit_code(error: WarpwrightError, code: Exit) -> None:
    assert error.exit_code is code


@pytest.mark.parametrize("error", [error for error, _ in EXAMPLES], ids=lambda error: type(error).__name__)
def test_an_error_survives_pickling_from_another_process(error: WarpwrightError) -> None:
    back = pickle.loads(pickle.dumps(error))
    assert type(back) is type(error)
    assert str(back) == str(error)
    assert vars(back) == vars(error)


def test_a_task_error_names_place_key_problem_and_remedy() -> None:
    assert str(EXAMPLES[2][0]) == "task.toml, dtypes: unknown dtype; use fp32"
    assert str(EXAMPLES[3][0]) == "task.toml: not TOML"
