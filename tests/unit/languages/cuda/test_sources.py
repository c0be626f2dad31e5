"""Candidates of several files, and macros that a comment sets."""

from __future__ import annotations

from pathlib import Path

import pytest

from warpwright import languages
from warpwright.app.given import KernelFile, candidate_of
from warpwright.core.candidate import Flags
from warpwright.core.errors import UsageError


def test_headers_beside_a_file_and_in_named_folders_are_part_of_the_source(tmp_path: Path) -> None:
    (tmp_path / "own").mkdir()
    (tmp_path / "own" / "tile.cuh").write_text("#pragma once\nconstexpr int TILE = 32;\n")
    (tmp_path / "row.cuh").write_text('#pragma once\n#include "tile.cuh"\nconstexpr int ROW = TILE;\n')
    kernel = tmp_path / "kernel.cu"
    kernel.write_text('#include <cuda.h>\n#include "row.cuh"\n#include "tile.cuh"\n#include "absent.h"\nint x = ROW;\n')
    source = languages.read(kernel, Flags(), (tmp_path / "own",)).source
    assert source.count("constexpr int TILE") == source.count("constexpr int ROW") == 1
    assert source.index("TILE = 32") < source.index("ROW = TILE") < source.index("x = ROW")
    assert "#include <cuda.h>" in source
    assert '#include "absent.h"' in source


def test_macros_are_part_of_what_a_candidate_is(tmp_path: Path) -> None:
    kernel = tmp_path / "kernel.cu"
    kernel.write_text("// warpwright: -DWIDE=1\nPYBIND11_MODULE(x, m) {}\n")
    plain = candidate_of(kernel)
    assert plain.flags.extra == ("-DWIDE=1",)
    more = candidate_of(KernelFile(path=kernel, macros=("-UNARROW",)))
    assert more.flags.extra == ("-DWIDE=1", "-UNARROW")
    assert more.id != plain.id


def test_a_comment_may_set_macros_and_nothing_else(tmp_path: Path) -> None:
    kernel = tmp_path / "kernel.cu"
    kernel.write_text("// warpwright: -O0\n")
    with pytest.raises(UsageError, match="-O0"):
        languages.read(kernel, Flags())
