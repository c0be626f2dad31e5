"""Runs every test in each mode of confinement that this machine supports."""

from __future__ import annotations

import os
import subprocess
from collections.abc import Callable
from functools import cache
from pathlib import Path

import pytest

from warpwright.sandbox import isolation as sandbox_isolation
from warpwright.sandbox import run as sandbox
from warpwright.sandbox.launcher import PRIVILEGED, TREE, USER

WAYS = [(USER, True), (USER, False), (PRIVILEGED, True), (TREE, True), (TREE, False)]
Villain = Callable[..., sandbox.Finished]


def _name(way: tuple[str, bool]) -> str:
    return way[0].replace(" ", "-") + ("-own-user" if way[1] else "")


@cache
def _fault(mode: str, own_user: bool) -> str | None:
    """Returns why this machine does not support a mode; cached."""
    if os.geteuid() != 0 and (mode, own_user) not in WAYS[1::3]:
        return "not root"
    return sandbox_isolation._try(mode, own_user).get("fault")


@pytest.fixture(params=WAYS, ids=_name)
def way(request: pytest.FixtureRequest, monkeypatch: pytest.MonkeyPatch) -> str:
    mode, own_user = request.param
    if fault := _fault(mode, own_user):
        pytest.skip(f"{_name(request.param)} is not allowed here: {fault}")
    monkeypatch.setattr(sandbox, "confinement", lambda: {"mode": mode, "own_user": own_user})
    return str(mode)


@pytest.fixture(scope="session")
def villain_binary(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("villain")
    source = Path(__file__).with_name("villain.cpp")
    subprocess.run(["g++", "-O1", "-std=c++17", "-pthread", str(source), "-o", str(folder / "villain")], check=True)
    return folder / "villain"


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    place = tmp_path / "writable"
    place.mkdir()
    return place


@pytest.fixture
def villain(villain_binary: Path, folder: Path) -> Villain:
    def call(*words: object, limits: sandbox.Limits | None = None, **options: object) -> sandbox.Finished:
        command = [str(villain_binary), *map(str, words)]
        most = limits or sandbox.Limits(wall_s=20, cpu_s=10, memory_bytes=1 << 29, processes=32)
        return sandbox.run(command, readable=[villain_binary], writable=folder, limits=most, **options)  # type: ignore[arg-type]

    return call


def alive(token: str) -> list[int]:
    """Finds processes anywhere on this machine with the token on their command line."""
    found = []
    for entry in Path("/proc").iterdir():
        if entry.name.isdigit() and int(entry.name) != os.getpid():
            try:
                words = (entry / "cmdline").read_bytes()
            except OSError:
                continue
            if token.encode() in words:
                found.append(int(entry.name))
    return found
