"""A folder of problems as KernelBench has them: each is composed, or it is said what is in the way; nothing crashes."""

from __future__ import annotations

import re
from functools import cache
from pathlib import Path

import pytest
from _pytest.mark import ParameterSet

from warpwright.compose.survey import Surveyed, survey
from warpwright.core.candidate import Candidate
from warpwright.core.records.evidence import Verdict
from warpwright.verify.ladder import climb

FOLDER = Path(__file__).parent / "kernelbench"
BEYOND = {"sorted_rows": "aten.sort"}
LIBRARY = ("square_matrix_product", "batched_matrix_product", "transposed_matrix_product", "convolution_2d")
CLIMBED = ("rms_norm", "max_pool_2d", "huber_loss", "7_SELU_and_ELU_")
CLIMBED_TOO = (
    "attention",
    "average_pool_2d_wide",
    "batch_norm_2d",
    "divergence",
    "instance_norm_and_max_pool_1d",
    "running_product",
    "running_sum_behind_a_zero",
    "running_sum_of_what_came_before",
)
"""In the larger tier."""
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


@pytest.mark.timeout(900)  # Nothing here depends on time; a machine under load must not turn slow into wrong.
@pytest.mark.parametrize("name", [*CLIMBED, *(pytest.param(name, marks=pytest.mark.corpus) for name in CLIMBED_TOO)])
def test_what_is_composed_is_right(name: str) -> None:
    answer = answered(name)
    assert answer.task is not None, answer.reason
    dossier = climb(answer.task, Candidate(source=answer.sources[0])).dossier
    assert dossier.verdict is Verdict.HOLDS, dossier.refutation or dossier.evidence


def test_names_are_those_that_cpp_leaves_to_us() -> None:
    """Files of KernelBench have names that begin with a number, and may end with an underscore."""
    (text,) = answered("7_SELU_and_ELU_").sources
    assert "__global__ void __launch_bounds__(256) task_7_SELU_and_ELU_elements_kernel(" in text
    assert not re.search(r"\b\d+_[A-Za-z]\w*_kernel", text)
    assert not re.search(r"(?<!_)[a-z]__[a-z]", text)


def test_what_a_module_keeps_for_itself_is_not_written() -> None:
    (text,) = answered("batch_norm_2d").sources
    assert text.count("norm_running_mean") == 1


def test_a_folder_is_its_files_and_what_is_no_problem_is_left_out(tmp_path: Path) -> None:
    (tmp_path / "relu.py").write_text((FOLDER / "relu.py").read_text(encoding="utf-8"), encoding="utf-8")
    (tmp_path / "notes.py").write_text("x = 1\n", encoding="utf-8")
    assert [Path(answer.name.partition(":")[0]).stem for answer in survey([str(tmp_path)])] == ["relu"]


def test_a_file_of_a_folder_that_cannot_be_read_is_named(tmp_path: Path) -> None:
    (tmp_path / "a_syntax.py").write_text("class Model:\n    x = (\n", encoding="utf-8")
    (tmp_path / "b_latin.py").write_bytes("# caf\u00e9\nclass Model: pass\n".encode("latin-1"))
    (tmp_path / "c_no_inputs.py").write_text("class Model: pass\n", encoding="utf-8")
    (tmp_path / "notes.py").write_text("x = 1\n", encoding="utf-8")
    found = {Path(answer.name).name: answer.reason or "" for answer in survey([str(tmp_path)])}
    assert list(found) == ["a_syntax.py", "b_latin.py", "c_no_inputs.py"]
    assert "a_syntax.py:2: syntax error" in found["a_syntax.py"]
    assert "is not UTF-8 text" in found["b_latin.py"]
    assert "get_inputs" in found["c_no_inputs.py"]


def test_a_folder_that_is_a_task_itself_is_no_folder_of_problems() -> None:
    folder = Path(__file__).parents[1] / "tasks" / "samples" / "robust_kbench" / "affine_last"
    assert {answer.name for answer in survey([str(folder)])} == {"affine_last:forward", "affine_last:backward"}


def test_a_place_that_does_not_exist_is_an_answer_too() -> None:
    (answer,) = survey(["no/such/place"])
    assert answer.task is None
    assert answer.reason
