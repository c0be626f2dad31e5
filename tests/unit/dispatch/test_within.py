"""A process of its own: its answer, its error, and the end of one that never answers."""

from __future__ import annotations

import time

import pytest

from warpwright.core.dtypes import dtype_named
from warpwright.core.errors import TaskError, UsageError
from warpwright.dispatch.pool import within
from warpwright.tasks import load


def test_an_answer_comes_back() -> None:
    assert within(len, "abc", 60.0) == 3


def test_what_takes_too_long_is_ended() -> None:
    assert within(time.sleep, 86400.0, 0.5) is None


def test_a_mistake_of_the_user_comes_back_as_itself() -> None:
    with pytest.raises(UsageError, match="floaty"):
        within(dtype_named, "floaty", 60.0)
    with pytest.raises(TaskError, match="cannot be read"):
        within(load, "/nowhere/missing.py:fn", 60.0)
