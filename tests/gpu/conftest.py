"""Provides one judge for all tests of a file, as for a bundle."""

import pytest


@pytest.fixture(scope="module")
def judge():
    from warpwright.judge.judging import Judge

    judge = Judge()
    yield judge
    judge.close()
