"""The examination finds what is there, survives what is not, and never tells a secret."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from warpwright.app import doctor
from warpwright.core.errors import Exit, OurFault
from warpwright.core.records.evidence import Fault
from warpwright.sandbox import run as sandbox
from warpwright.seal import toolchain

WANTED = {
    *("Python", "torch", "GPU", "driver", "nvcc", "g++", "clang", "ncu", "compute-sanitizer", "disk"),
    *("user namespaces", "landlock", "sandbox", "ANTHROPIC_API_KEY", "OPENAI_API_KEY", "GEMINI_API_KEY"),
}


@pytest.fixture
def bare(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> Path:
    """A machine with no programs and no toolkit; programs can be put into the folder that comes back."""
    monkeypatch.setenv("PATH", str(tmp_path))
    monkeypatch.setattr(doctor, "_TOOLKIT", str(tmp_path / "none"))
    monkeypatch.delenv("CUDA_HOME", raising=False)
    monkeypatch.delenv("CUDA_PATH", raising=False)
    monkeypatch.setattr(toolchain, "nvcc_of_wheels", list)
    return tmp_path


def program(folder: Path, name: str, script: str) -> None:
    path = folder / name
    path.write_text(f"#!/bin/sh\n{script}\n")
    path.chmod(0o755)


def found() -> dict[str, str | None]:
    return {finding.name: finding.found for finding in doctor.examine()}


def test_everything_wanted_is_examined_and_explained() -> None:
    findings = doctor.examine()
    assert {finding.name for finding in findings} == WANTED
    assert all(finding.needed_for and finding.remedy for finding in findings)
    assert {finding.name for finding in findings if finding.required} == {"Python", "torch", "g++"}


def test_a_bare_machine_is_examined_too(bare: Path) -> None:
    missing = {name for name, what in found().items() if what is None}
    assert {"g++", "nvcc", "clang", "ncu", "compute-sanitizer"} <= missing
    assert not doctor.complete(doctor.examine())


def test_versions_are_read_off_what_programs_print(bare: Path) -> None:
    program(bare, "g++", "echo 'g++ (Debian 12.2.0-14) 12.2.0'")
    program(bare, "nvcc", "echo 'Cuda compilation tools, release 13.0, V13.0.88'")
    program(bare, "nvidia-smi", "printf 'NVIDIA H200\\nNVIDIA H200\\n'")
    answers = found()
    assert str(answers["g++"]).startswith("12.2.0 (")
    assert str(answers["nvcc"]).startswith("13.0.88 (")
    assert answers["GPU"] == "NVIDIA H200"


def test_a_program_that_fails_counts_for_what_it_is(bare: Path) -> None:
    program(bare, "nvidia-smi", "echo 'no devices were found'; exit 9")
    program(bare, "clang", "exit 1")
    answers = found()
    assert answers["GPU"] is None or "no devices" not in answers["GPU"]
    assert answers["clang"] == str(bare / "clang")


def test_a_toolkit_off_the_path_is_found(bare: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (bare / "cuda" / "bin").mkdir(parents=True)
    program(bare / "cuda" / "bin", "nvcc", "echo V13.0.88")
    monkeypatch.setenv("CUDA_HOME", str(bare / "cuda"))
    assert found()["nvcc"] == f"13.0.88 ({bare}/cuda/bin/nvcc)"


def test_the_compiler_of_nvidias_wheels_is_found(bare: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (bare / "wheel").mkdir()
    program(bare / "wheel", "nvcc", "echo V13.0.88")
    monkeypatch.setattr(toolchain, "nvcc_of_wheels", lambda: [bare / "wheel" / "nvcc"])
    assert found()["nvcc"] == f"13.0.88 ({bare}/wheel/nvcc)"


def test_the_sandbox_says_what_holds_and_what_does_not(monkeypatch: pytest.MonkeyPatch) -> None:
    held = sandbox.Isolation(
        mode="tree",
        namespaces=(),
        landlock=None,
        seccomp=True,
        own_user=False,
        watched=True,
        cgroup=False,
        gaps=("files that this user can read are readable",),
    )
    monkeypatch.setattr(sandbox, "isolation", lambda: held)
    assert found()["sandbox"] == "tree, seccomp; files that this user can read are readable"


def test_a_machine_that_cannot_confine_is_told_so(monkeypatch: pytest.MonkeyPatch) -> None:
    def nothing() -> sandbox.Isolation:
        raise OurFault(Fault(where="sandbox", message="nothing confines here"))

    monkeypatch.setattr(sandbox, "isolation", nothing)
    assert found()["sandbox"] is None


def test_keys_are_named_and_never_shown(warpwright) -> None:
    secret = "sk-very-secret"
    ran = warpwright("doctor", "--json", ANTHROPIC_API_KEY=secret, GOOGLE_API_KEY=secret, OPENAI_API_KEY="")
    assert secret not in ran.stdout + ran.stderr
    answers = {item["name"]: item["found"] for item in json.loads(ran.stdout)["findings"]}
    assert answers["ANTHROPIC_API_KEY"] == answers["GEMINI_API_KEY"] == "set"
    assert answers["OPENAI_API_KEY"] is None


def test_the_table_says_whether_all_is_well(warpwright) -> None:
    ran = warpwright("doctor")
    assert ran.returncode == Exit.HOLDS
    assert "Everything required is here." in ran.stdout
    for name in WANTED:
        assert name in ran.stdout


def test_something_required_missing_is_undecided(warpwright, tmp_path: Path) -> None:
    ran = warpwright("doctor", PATH=str(tmp_path))
    assert ran.returncode == Exit.UNDECIDED
    assert "apt install g++" in ran.stdout
