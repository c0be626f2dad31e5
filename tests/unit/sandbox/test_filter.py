"""The seccomp program, executed by a small interpreter instead of the kernel."""

from __future__ import annotations

import os
import struct
from types import SimpleNamespace

import pytest

from warpwright.sandbox import filter as sandbox_filter

ALLOW, EPERM, ENOSYS = 0x7FFF0000, 0x00050001, 0x00050026
AUDIT = {"x86_64": 0xC000003E, "aarch64": 0xC00000B7}


def verdict(program: bytes, number: int, machine: int, argument: int = 0) -> int:
    data = struct.pack("<IIQ6Q", number, machine, 0, argument, 0, 0, 0, 0, 0)
    code = [struct.unpack_from("<HBBI", program, at) for at in range(0, len(program), 8)]
    accumulator = at = 0
    while True:
        kind, yes, no, operand = code[at]
        at += 1
        if kind == 0x06:
            return int(operand)
        if kind == 0x20:
            accumulator = struct.unpack_from("<I", data, operand)[0]
        else:
            taken = {0x15: accumulator == operand, 0x35: accumulator >= operand, 0x45: bool(accumulator & operand)}
            at += yes if taken[kind] else no


@pytest.fixture(params=["x86_64", "aarch64"])
def machine(request: pytest.FixtureRequest, monkeypatch: pytest.MonkeyPatch) -> str:
    monkeypatch.setattr(os, "uname", lambda: SimpleNamespace(machine=request.param))
    return str(request.param)


def column(machine: str) -> int:
    return 0 if machine == "x86_64" else 1


def test_every_refused_call_is_refused(machine: str) -> None:
    program = sandbox_filter.program()
    for name, numbers in sandbox_filter._REFUSED.items():
        if numbers[column(machine)] is not None:
            assert verdict(program, numbers[column(machine)], AUDIT[machine]) == EPERM, name


def test_ordinary_calls_are_allowed(machine: str) -> None:
    program = sandbox_filter.program()
    for number in {"x86_64": (0, 1, 9, 59, 257), "aarch64": (56, 63, 64, 221, 222)}[machine]:
        assert verdict(program, number, AUDIT[machine]) == ALLOW


def test_another_instruction_set_is_refused(machine: str) -> None:
    assert verdict(sandbox_filter.program(), 1, 0x40000003) == EPERM


def test_x32_calls_are_refused(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(os, "uname", lambda: SimpleNamespace(machine="x86_64"))
    assert verdict(sandbox_filter.program(), 0x40000001, AUDIT["x86_64"]) == EPERM


def test_clone_creates_processes_but_no_namespaces(machine: str) -> None:
    program, clone = sandbox_filter.program(), (56, 220)[column(machine)]
    assert verdict(program, clone, AUDIT[machine], 17) == ALLOW
    assert verdict(program, clone, AUDIT[machine], 0x10000011) == EPERM
    assert verdict(program, 435, AUDIT[machine]) == ENOSYS


def test_without_a_process_namespace_a_process_may_signal_only_itself(machine: str) -> None:
    program = sandbox_filter.program(signals_from=77)
    kill, own = ((62, 234), (129, 131))[column(machine)]
    assert verdict(program, kill, AUDIT[machine], 77) == EPERM
    assert verdict(program, own, AUDIT[machine], 77) == ALLOW
    assert verdict(program, own, AUDIT[machine], 78) == EPERM
