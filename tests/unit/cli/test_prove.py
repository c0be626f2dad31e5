"""`warpwright prove`: what it prints and exits with, for proofs given here."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest
from typer.testing import CliRunner

from warpwright.cli.main import app
from warpwright.core.records.evidence import Counterexample
from warpwright.languages.cuda.frontend import Cuda
from warpwright.prove.proof import CaseProof, Grade, Proof

SOURCE = "#include <torch/extension.h>\nPYBIND11_MODULE(TORCH_EXTENSION_NAME, m) {}\n"
WRONG = Counterexample(kind="formula", message="y[0] is 2.0 in exact arithmetic")
CASES = {
    "equal": CaseProof(case="N1", grade=Grade.EQUAL, draws=2, elements=8, error=3e-9),
    "different": CaseProof(case="N1", grade=Grade.DIFFERENT, counterexample=WRONG),
    "unsupported": CaseProof(case="N1", grade=Grade.UNSUPPORTED, reason="ptx wgmma"),
}


@pytest.mark.parametrize(
    ("grade", "code", "said"), [("equal", 0, "3e-09"), ("different", 1, "y[0]"), ("unsupported", 3, "ptx wgmma")]
)
def test_the_exit_code_is_the_grade(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, grade: str, code: int, said: str
) -> None:
    def proved(*_: Any) -> Proof:
        return Proof(cases=(CASES[grade],))

    monkeypatch.setattr(Cuda, "prove", proved)
    kernel = tmp_path / "k.cu"
    kernel.write_text(SOURCE)
    shown = CliRunner().invoke(app, ["prove", str(kernel), "--task", "softmax"])
    assert shown.exit_code == code
    assert said in shown.output
    told = CliRunner().invoke(app, ["prove", str(kernel), "--task", "softmax", "--json"])
    assert told.exit_code == code
    assert json.loads(told.stdout)["grade"] == grade
