"""The corpus has the headings on which other tests rely."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

from warpwright.tasks import load

HERE = Path(__file__).parent
HONEST, HOSTILE = sorted((HERE / "seal").glob("*.cu")), sorted((HERE / "hostile").glob("*.cu"))
HEADING = re.compile(r"// task: (?P<task>\S+)  dtypes: (?P<dtypes>[\w, ]+?)  (style|attack): \S.*")
EXPECT = re.compile(r"// expect: [a-z-]+( \| [a-z-]+)*")


def lines(path: Path) -> list[str]:
    return path.read_bytes().decode("utf-8").splitlines()


def test_the_corpus_is_large_enough() -> None:
    assert len(HONEST) >= 60
    assert len(HOSTILE) >= 30


@pytest.mark.parametrize("path", HONEST, ids=lambda path: path.stem)
def test_each_kernel_names_a_task_and_dtypes_it_has(path: Path) -> None:
    heading = HEADING.fullmatch(lines(path)[0])
    assert heading
    name = heading["task"] if ":" in heading["task"] else f"{heading['task']}:forward"
    (task,) = load(name)
    assert set(heading["dtypes"].split(", ")) <= {case.dtype for case in task.cases}


@pytest.mark.parametrize("path", HOSTILE, ids=lambda path: path.stem)
def test_each_attack_names_its_expected_verdict(path: Path) -> None:
    expected, heading, *_ = lines(path)
    assert EXPECT.fullmatch(expected)
    assert HEADING.fullmatch(heading)
