"""Small floating formats in plain arithmetic, over all of their values: subnormals, ties and infinities included."""

from __future__ import annotations

import array
import math
import struct
import subprocess
from collections.abc import Iterator

import pytest

from warpwright.seal import toolchain

PROGRAM = r"""
#include <cstdio>
#include "warpwright/half_bits.h"
using namespace warpwright;
template <class Format>
void write_all() {
  for (uint32_t bits = 0; bits < 65536; ++bits) {
    uint32_t wide = bits_as<uint32_t>(Format::widen(bits));
    uint32_t row[] = {wide, Format::narrow(bits_as<float>(wide)), Format::narrow(bits_as<float>(bits << 16 | 0x7fff)),
                      Format::narrow(bits_as<float>(bits << 16 | 0x8000)),
                      Format::narrow(bits_as<float>(bits << 16 | 0x8001))};
    fwrite(row, sizeof row, 1, stdout);
  }
}
int main() {
  write_all<BFloat16Bits>();
  write_all<HalfBits>();
}
"""
Row = tuple[int, int, int, int, int]
"""Widened, narrowed again, then what is just below, at and just above the middle between two bfloat16 values."""


@pytest.fixture(scope="module")
def rows(tmp_path_factory: pytest.TempPathFactory) -> list[Row]:
    folder = tmp_path_factory.mktemp("half")
    (folder / "all.cpp").write_text(PROGRAM)
    flags = [toolchain.STANDARD, "-O1", "-I", str(toolchain.INCLUDE)]
    subprocess.run([toolchain.host_compiler(), *flags, "all.cpp", "-o", "all"], cwd=folder, check=True)
    words = array.array("I", subprocess.run([folder / "all"], capture_output=True, check=True).stdout)
    return list(zip(*(iter(words),) * 5, strict=True))


def numbers(exponent: int) -> Iterator[int]:
    """Every pattern that is not NaN, for a format whose infinity is this one."""
    return (bits for bits in range(65536) if bits & 0x7FFF <= exponent)


def test_bfloat16_is_the_upper_half_of_a_float(rows: list[Row]) -> None:
    assert all(rows[bits][:2] == (bits << 16, bits) for bits in numbers(0x7F80))


def test_bfloat16_rounds_to_nearest_and_ties_to_even(rows: list[Row]) -> None:
    for bits in (bits for bits in numbers(0x7F80) if bits & 0x7FFF < 0x7F80):
        assert rows[bits][2:] == (bits, bits + (bits & 1), bits + 1)


def test_half_is_what_ieee_says(rows: list[Row]) -> None:
    for bits in numbers(0x7C00):
        (value,) = struct.unpack("<e", bits.to_bytes(2, "little"))
        wide, again, *_ = rows[65536 + bits]
        assert (wide, again) == (int.from_bytes(struct.pack("<f", value), "little"), bits)


def test_floats_between_halves_round_as_ieee_says(rows: list[Row]) -> None:
    for bits in (bits for bits in range(0, 65536, 7) if bits & 0x7FFF < 0x7F80):
        for position, low in enumerate((0x7FFF, 0x8000, 0x8001)):
            (value,) = struct.unpack("<f", (bits << 16 | low).to_bytes(4, "little"))
            assert rows[65536 + bits][2 + position] == _half_of(value)


def _half_of(value: float) -> int:
    try:
        return int.from_bytes(struct.pack("<e", value), "little")
    except OverflowError:
        return 0xFC00 if math.copysign(1, value) < 0 else 0x7C00


def test_not_a_number_stays_one(rows: list[Row]) -> None:
    for bits in (0x7F81, 0x7FC0, 0xFFFF):
        wide, again, *_ = rows[bits]
        assert wide & 0x7FFFFFFF > 0x7F800000
        assert again & 0x7FFF > 0x7F80
