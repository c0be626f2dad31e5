"""A folder of problems as KernelBench has them: each is composed, or it is said what is in the way; nothing crashes."""

from __future__ import annotations

from functools import cache
from pathlib import Path

import pytest
from _pytest.mark import ParameterSet

from warpwright.core.candidate import Candidate
from warpwright.core.evidence import Verdict
from warpwright.propose.composer.survey import Surveyed, survey
from warpwright.verify.ladder import climb

FOLDER = Path(__file__).parent / "kernelbench"
BEYOND = {"running_product": "aten.cumprod", "sorted_rows": "aten.sort"}
LIBRARY = ("square_matrix_product", "batched_matrix_product", "transposed_matrix_product", "convolution_2d")
CLIMBED = ("rms_norm", "max_pool_2d", "huber_loss")
SAMPLE = {*BEYOND, *CLIMBED, "square_matrix_product", "relu"}


def _tiers() -> list[ParameterSet]:
    """Each problem is looked at in a process of its own, which takes seconds: a sample is in the default tier."""
    names = sorted(path.stem for path in FOLDER.glob("*.py"))
    return [pytest.param(name, marks=() if name in SAMPLE else pytest.mark.corpus) for name in names]


@cache
def answered(name: str) -> Surveyed:
    (answer,) = survey([str(FOLDER / f"{name}.py")])
    return answer


@pytest.mark.parametrize("name", _tiers())
def test_every_problem_has_an_answer(name: str) -> None:
    answer = answered(name)
    if name in BEYOND:
        assert answer.reason == f"cannot compose: {BEYOND[name]}"
        assert not answer.sources
        return
    assert answer.reason is None
    (text,) = answer.sources
    assert ("at::" in text) if name in LIBRARY else ("__global__" in text)


@pytest.mark.parametrize("name", CLIMBED)
def test_what_is_composed_is_right(name: str) -> None:
    answer = answered(name)
    assert answer.task is not None
    assert climb(answer.task, Candidate(source=answer.sources[0])).verdict is Verdict.HOLDS


def test_a_folder_is_its_files_and_what_is_no_problem_is_left_out(tmp_path: Path) -> None:
    (tmp_path / "relu.py").write_text((FOLDER / "relu.py").read_text(encoding="utf-8"), encoding="utf-8")
    (tmp_path / "notes.py").write_text("x = 1\n", encoding="utf-8")
    assert [Path(answer.name.partition(":")[0]).stem for answer in survey([str(tmp_path)])] == ["relu"]


def test_a_place_that_does_not_exist_is_an_answer_too() -> None:
    (answer,) = survey(["no/such/place"])
    assert answer.task is None
    assert answer.reason
