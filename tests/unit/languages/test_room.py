"""What every language of the room must satisfy."""

from __future__ import annotations

from dataclasses import fields
from itertools import chain
from pathlib import Path

import pytest

from warpwright import languages
from warpwright.core.candidate import CUDA, Candidate, Flags
from warpwright.core.errors import UsageError
from warpwright.propose.prompting.template import render
from warpwright.tasks import load

ALL = list(languages.frontends().values())


def named(language: languages.Frontend) -> str:
    return language.name


def test_cuda_is_the_language_of_candidates_that_name_none() -> None:
    assert languages.of(Candidate(source="x")).name == next(iter(languages.frontends())) == CUDA


@pytest.mark.parametrize("language", ALL, ids=named)
def test_a_file_is_claimed_by_the_language_that_it_is_in(language: languages.Frontend) -> None:
    (task,) = load("layernorm:forward")
    for ending in language.endings:
        assert languages.for_file(Path(f"kernel{ending}"), language.skeleton(task)) is language


def test_an_unknown_language_is_a_sentence() -> None:
    with pytest.raises(UsageError, match="there is no language 'fortran'; one of cuda"):
        languages.of(Candidate(source="x", language="fortran"))


@pytest.mark.parametrize("language", ALL, ids=named)
def test_a_language_is_called_as_its_package_is(language: languages.Frontend) -> None:
    assert languages.frontends()[language.folder.name] is language
    assert language.endings
    assert all(ending.startswith(".") for ending in language.endings)
    assert all(getattr(language.words, field.name) for field in fields(language.words))


@pytest.mark.parametrize("language", ALL, ids=named)
def test_a_skeleton_and_an_outline_are_sources_of_their_language(language: languages.Frontend) -> None:
    (task,) = load("layernorm:forward")
    for text in (language.skeleton(task), language.outline(["forward"])):
        assert language.problem(text) is None
        assert language.exports(text)
        assert language.is_whole(text)
    assert language.problem("no source of anything") is not None


@pytest.mark.parametrize("language", ALL, ids=named)
def test_the_rules_have_a_value_for_each_of_their_fields(language: languages.Frontend) -> None:
    assert render("rules", language.rules(Flags()), language).startswith("## Rules\n")


def test_files_in_a_folder_are_those_that_some_language_claims(tmp_path: Path) -> None:
    (tmp_path / "sub").mkdir()
    for name in ("b.cu", "sub/a.cu", "notes.md"):
        (tmp_path / name).write_text("x")
    assert languages.files_in(tmp_path) == [tmp_path / "b.cu", tmp_path / "sub" / "a.cu"]


def test_a_file_that_cannot_be_read_is_a_sentence(tmp_path: Path) -> None:
    with pytest.raises(UsageError, match="cannot be read: No such file"):
        languages.read(tmp_path / "none.cu", Flags())


def test_a_language_that_lacks_a_part_cannot_be_made() -> None:
    class Half(languages.Frontend):
        name = "half"

    with pytest.raises(TypeError, match="seal"):
        Half()


def test_hints_of_different_languages_have_different_names() -> None:
    from warpwright.propose.prompting.gpu.hints import hints

    ids = [hint.id for hint in chain.from_iterable(map(hints, ALL))]
    assert len(ids) == len(set(ids))
