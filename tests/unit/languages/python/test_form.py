"""What of a Python file is called, and which files are candidates."""

from __future__ import annotations

from pathlib import Path

import pytest

from warpwright import languages
from warpwright.languages.python.form import Form, claims, form_of

INLINE = "from torch.utils.cpp_extension import load_inline\n"


@pytest.mark.parametrize(
    ("source", "style", "entry"),
    [
        ("class ModelNew:\n    pass\n\ndef forward(x): ...\n", "module", "ModelNew"),
        ("def custom_kernel(data): ...\n", "submission", "custom_kernel"),
        ("def forward(x): ...\ndef run(x): ...\n", "function", "forward"),
    ],
)
def test_the_form_follows_from_what_a_file_defines(source: str, style: str, entry: str) -> None:
    assert form_of(source) == Form(style=style, entry=entry)


@pytest.mark.parametrize("source", ["x = 1\n", "class ModelNew(", "class Model:\n    pass\n", "\x00"])
def test_other_texts_have_no_form(source: str) -> None:
    assert form_of(source) is None


def test_a_reference_beside_a_candidate_is_not_one() -> None:
    assert not claims("import torch\n\ndef forward(x):\n    return torch.relu(x)\n")
    assert claims(INLINE + "def forward(x): ...\n")


def test_a_form_has_a_second_name() -> None:
    assert languages.named("modelnew") is languages.named("python")
    assert languages.for_file(Path("a.py"), "class ModelNew: ...").name == "python"


def test_comments_and_layout_are_no_difference() -> None:
    fingerprint = languages.named("python").fingerprint
    assert fingerprint("x = 1  # one\n") == fingerprint("x   =   1")
    assert fingerprint("x = 1") != fingerprint("x = 2")
