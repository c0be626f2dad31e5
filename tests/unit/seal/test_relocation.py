"""Addresses are found by how they move, wherever they hide; other changes are refused."""

from __future__ import annotations

import struct

import pytest
from hypothesis import given
from hypothesis import strategies as st

from warpwright.core.launch.plan import Relocation
from warpwright.seal.capture.calls import BASES
from warpwright.seal.plans.building import Unresolved, relocated

BASE = [[0x1000_0000, 0x2000_0000], [0x1010_0000, 0x2030_0000], [0x1050_0000, 0x2090_0000]]


def words(*columns: tuple[int, ...]) -> list[bytes]:
    return [b"".join(struct.pack("<q", column[space]) for column in columns) for space in range(BASES)]


def pointer(buffer: int, addend: int = 0) -> tuple[int, ...]:
    return tuple(bases[buffer] + addend for bases in BASE)


def test_a_pointer_is_a_relocation_and_its_bytes_are_blanked() -> None:
    data, found = relocated(words((7, 7, 7), pointer(1, 64)), BASE, 3)
    assert data == struct.pack("<qq", 7, 0)
    assert found == (Relocation(argument=3, offset=8, buffer=1, addend=64),)


@pytest.mark.parametrize("addend", [-4, 0, 1 << 40])
def test_pointers_outside_their_buffer_are_still_its_own(addend: int) -> None:
    _, found = relocated(words(pointer(0, addend)), BASE)
    assert found == (Relocation(offset=0, buffer=0, addend=addend),)


def test_null_and_plain_numbers_stay() -> None:
    data, found = relocated(words((0, 0, 0), (1 << 60, 1 << 60, 1 << 60)), BASE)
    assert (data, found) == (struct.pack("<qq", 0, 1 << 60), ())


@given(st.integers(0, 7), st.binary(max_size=9), st.sampled_from([0, 1]), st.integers(0, 1 << 30))
def test_packed_structs_may_misalign_a_pointer(shift: int, tail: bytes, buffer: int, addend: int) -> None:
    values = [bytes(shift) + word + tail for word in words(pointer(buffer, addend))]
    data, found = relocated(values, BASE)
    assert data == bytes(shift + 8) + tail
    assert found == (Relocation(offset=shift, buffer=buffer, addend=addend),)


@pytest.mark.parametrize(
    "column", [(1, 2, 3), tuple(word >> 4 for word in pointer(0)), tuple(2 * word for word in pointer(1))]
)
def test_what_moves_otherwise_is_refused(column: tuple[int, ...]) -> None:
    with pytest.raises(Unresolved):
        relocated(words(column), BASE)


def test_half_a_pointer_is_refused() -> None:
    with pytest.raises(Unresolved):
        relocated([word[:4] for word in words(pointer(0))], BASE)
