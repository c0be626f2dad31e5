"""Loads a user's file as a module, and reports its errors as one sentence with file and line."""

from __future__ import annotations

import sys
import traceback
import types
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

from warpwright.core.errors import TaskError, UsageError
from warpwright.tasks.probing.seen import Job

MODULE = "warpwright_user_file"


def load(job: Job) -> types.ModuleType:
    """Executes the text rather than the file: a task is sent as text, so a file that needs its neighbours must fail
    now.
    """
    module = types.ModuleType(MODULE)
    module.__file__ = job.filename
    sys.modules[MODULE] = module
    try:
        code = compile(job.source, job.filename, "exec")
    except SyntaxError as error:
        raise TaskError(f"{job.filename}:{error.lineno}", None, f"syntax error: {error.msg}") from None
    except ValueError as error:
        raise TaskError(job.filename, None, f"is not Python: {error}") from None
    with as_task_errors(job, "import"):
        exec(code, module.__dict__)
    return module


def member(job: Job, module: types.ModuleType, name: str, purpose: str) -> Any:
    found = getattr(module, name, None)
    if found is None:
        raise TaskError(job.filename, name, "is missing", purpose)
    return found


@contextmanager
def as_task_errors(job: Job, what: str, remedy: str = "") -> Iterator[None]:
    """Converts every exception inside to a TaskError of the user's file, raised while it did `what`."""
    try:
        yield
    except TaskError:
        raise
    except UsageError as error:
        raise TaskError(job.filename, what, str(error)) from None
    except ModuleNotFoundError as error:
        problem = f"needs the package '{error.name}', which is not installed here"
        raise TaskError(_place(job, error), None, problem, "a task must be one file that needs only torch") from None
    except (Exception, SystemExit) as error:
        raise TaskError(_place(job, error), what, f"{type(error).__name__}: {first_line(error)}", remedy) from None


def first_line(error: BaseException) -> str:
    return (str(error).strip().splitlines() or ["no message"])[0][:300]


def _place(job: Job, error: BaseException) -> str:
    frames = [frame for frame in traceback.extract_tb(error.__traceback__) if frame.filename == job.filename]
    return f"{job.filename}:{frames[-1].lineno}" if frames else job.filename
