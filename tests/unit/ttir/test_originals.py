"""Right kernels give right results and no findings, in both orders of programs."""

from pathlib import Path

import pytest

pytest.importorskip("triton", reason="kernels are lowered by Triton")

from triton_bugs.checking import problems
from triton_bugs.specimens import SPECIMENS


@pytest.mark.parametrize("name", SPECIMENS)
def test_a_right_kernel_is_found_right(name: str, tmp_path: Path) -> None:
    specimen = SPECIMENS[name]
    assert problems(specimen.text(), specimen.kernel, specimen.calls(), tmp_path) == []
