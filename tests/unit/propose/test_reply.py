"""Answers: the usual deviations are read, and nothing that could be read two ways or is cut off."""

from __future__ import annotations

from functools import partial
from pathlib import Path

import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from warpwright import languages
from warpwright.propose.answers import reply
from warpwright.propose.answers.edits import Unreadable

source_in = partial(reply.source_in, languages.named("cuda"))
CORPUS = sorted((Path(__file__).parents[2] / "corpus" / "seal").glob("*.cu"))
FILE = """#include <torch/extension.h>
__global__ void k(float* y) { y[0] = 1; }
torch::Tensor forward(torch::Tensor x) { return x; }
PYBIND11_MODULE(TORCH_EXTENSION_NAME, m) { m.def("forward", &forward); }
"""
OTHER = FILE.replace("y[0] = 1", "y[0] = 2")
SNIPPET = "```cuda\n__global__ void k(float* y) { y[0] = 1; }\n```\n"


@pytest.mark.parametrize(
    "answer",
    [
        f"```cuda\n{FILE}```",
        f"Some thoughts.\n\n```cuda\n{FILE}```\nGood luck.",
        f"```cpp\n{FILE}```",
        f"```c++ path=kernel.cu\n{FILE}```",
        f"```\n{FILE}```",
        f"~~~~cuda\n{FILE}~~~~",
        f"````cuda\n{FILE}````",
        f"```cuda\n{FILE}```".replace("\n", "\r\n"),
        f"{SNIPPET}and now all of it\n```cuda\n{FILE}```",
        f"```python\nimport torch\n```\n```cuda\n{FILE}```",
        f"```cuda\n{FILE}```\nOnce more:\n```cuda\n{FILE}```",
        f"<think>\n```cuda\n{OTHER}```\n</think>\n```cuda\n{FILE}```",
        f'<file path="kernel.cu">\n{FILE}</file>',
        f"<file>\n```cuda\n{FILE}```\n</file>",
        FILE,
        "- a list\n\n  ```cuda\n" + "".join(f"  {line}\n" for line in FILE.splitlines()) + "  ```",
    ],
)
def test_one_whole_file_is_found(answer: str) -> None:
    assert source_in(answer) == FILE


@pytest.mark.parametrize(
    ("answer", "says"),
    [
        ("", "empty"),
        (" \n", "empty"),
        ("<think>hm</think>", "empty"),
        ("I cannot help with that.", "no code block"),
        (SNIPPET, "no code block of the answer has PYBIND11_MODULE"),
        ("```python\nimport torch\n```", "the answer is Python"),
        (f"```cuda\n{FILE}", "not closed"),
        (f"```cuda\n{FILE}```\n```cuda\n{OTHER}```", "2 different files"),
        (f"```cuda\n{FILE}\n```cuda\n{FILE}```", "not closed"),
        (f"<file>\n{FILE}", "not closed"),
        (f"```cuda\n{FILE[:-20]}\n```", "has no complete binding"),
        (f"```cuda\n// ... rest of the kernel unchanged ...\n{FILE}```", "replaces code"),
        (f"```cuda\n/* The rest of the code stays the same */\n{FILE}```", "replaces code"),
        (f"```cuda\n// … existing helper functions\n{FILE}```", "replaces code"),
        ("```cuda\n// PYBIND11_MODULE(x, m) {}\n```", "no code block of the answer has PYBIND11_MODULE"),
        ("<<<<<<< SEARCH\na\n=======\nb\n>>>>>>> REPLACE", "there is no kernel to edit here"),
    ],
)
def test_what_cannot_be_used_is_said_in_a_sentence(answer: str, says: str) -> None:
    with pytest.raises(Unreadable, match=says):
        source_in(answer)


EDIT = "<<<<<<< SEARCH\n__global__ void k(float* y) { y[0] = 1; }\n=======\n{}\n>>>>>>> REPLACE\n"
CHANGED = "__global__ void k(float* y) { y[0] = 2; }"


@pytest.mark.parametrize("frame", ["{}", "Like so:\n```\n{}```\n", "```diff\n{}```"])
def test_a_parent_may_be_edited(frame: str) -> None:
    assert source_in(frame.replace("{}", EDIT.replace("{}", CHANGED)), FILE) == OTHER


def test_a_whole_file_may_replace_its_parent() -> None:
    assert source_in(f"```cuda\n{OTHER}```", FILE) == OTHER


def test_edits_beside_a_whole_file_are_ambiguous() -> None:
    with pytest.raises(Unreadable, match="both a whole file and SEARCH/REPLACE"):
        source_in(f"```cuda\n{OTHER}```\n{EDIT.replace('{}', CHANGED)}", FILE)


def test_an_edit_must_not_remove_the_binding() -> None:
    binding = FILE.splitlines()[-1]
    with pytest.raises(Unreadable, match="has no complete binding"):
        source_in(f"<<<<<<< SEARCH\n{binding}\n=======\n>>>>>>> REPLACE", FILE)


def test_a_comment_of_the_parent_is_not_held_against_the_answer() -> None:
    parent = "// ... rest of the kernel unchanged\n" + FILE
    assert source_in(EDIT.replace("{}", CHANGED), parent) == "// ... rest of the kernel unchanged\n" + OTHER


@pytest.mark.parametrize(
    "comment",
    [
        "// Handle the remaining elements...",
        "// x[0], x[1], ... of the same row",
        "// the rest of the row",
        "// same as in the forward pass",
        "// The code below assumes that n is even.",
    ],
)
def test_an_honest_comment_is_no_gap(comment: str) -> None:
    assert source_in(f"```cuda\n{comment}\n{FILE}```") == f"{comment}\n{FILE}"


@pytest.mark.parametrize("path", CORPUS, ids=lambda path: path.stem)
def test_every_kernel_of_the_corpus_survives_a_fence(path: Path) -> None:
    source = path.read_text(encoding="utf-8")
    assert source_in(f"Here.\n```cuda\n{source.rstrip()}\n```\n") == source.rstrip() + "\n"


PIECES = [
    "```cuda\n", "```\n", "```", "~~~\n", "<file>\n", "</file>\n", "<think>", "</think>", FILE, OTHER, "\n", "text ",
    "\\\n", "<<<<<<< SEARCH\n", "=======\n", ">>>>>>> REPLACE\n", "}", "PYBIND11_MODULE", "(", "{", '"', "/*",
    "// ...\n",
]  # fmt: skip


@given(st.lists(st.sampled_from(PIECES), max_size=10).map("".join), st.sampled_from([None, FILE]))
@example("```cuda\n" + FILE, None)
@example("<think></think>" + FILE, None)
def test_any_answer_is_read_or_refused(answer: str, parent: str | None) -> None:
    """Whatever comes back exports something, and all that is in a line of it was in the answer or in the parent."""
    try:
        source = source_in(answer, parent)
    except Unreadable:
        return
    assert "PYBIND11_MODULE" in source
    known = answer + "\n" + (parent or "")
    assert all(line.strip() in known for line in source.split("\n"))


@given(st.integers(0, len(FILE)))
def test_an_answer_that_is_cut_off_is_never_taken_for_a_file(end: int) -> None:
    with pytest.raises(Unreadable):
        source_in(f"```cuda\n{FILE}```"[: 8 + end])


@given(st.integers(0, len(FILE) - 2))
def test_half_a_bare_file_is_never_taken_for_a_file(end: int) -> None:
    with pytest.raises(Unreadable):
        source_in(FILE[:end])


HOSTILE = ["```cuda\n", "```\n", "<file>\n", "<think>", "<<<<<<< SEARCH\n", "/*", "{", "// ..."]


@pytest.mark.parametrize("piece", HOSTILE)
def test_a_long_hostile_answer_is_refused_in_one_go(piece: str) -> None:
    """Twenty thousand pieces, where a search that starts anew at each would take minutes."""
    with pytest.raises(Unreadable):
        source_in(piece * 20_000, FILE)


@pytest.mark.parametrize("piece", ["...", "unchanged ", ". ", "rest of the code "])
def test_a_long_comment_is_read_in_one_go(piece: str) -> None:
    with pytest.raises(Unreadable, match="has no complete binding"):
        source_in(f"```cuda\n// so {piece * 20_000}\nPYBIND11_MODULE\n```")


@given(st.text())
def test_any_text_at_all_is_read_or_refused(answer: str) -> None:
    with pytest.raises(Unreadable):
        source_in(answer)
