"""Random integers as a pure function of (seed, name, position).

Only integer arithmetic is used, so that every machine, torch version, CPU and GPU gives the same bits. torch's own
generators give different numbers on CPU and GPU for one seed.
"""

from __future__ import annotations

import hashlib

import torch

MASK = 0xFFFFFFFF
_CHUNK = 1 << 22  # bounds the int64 scratch memory; the result does not depend on it


def random_bits(seed: int, name: str, count: int, device: torch.device | str = "cpu", offset: int = 0) -> torch.Tensor:
    """`count` independent uniform 32-bit integers from position `offset` on, as int64."""
    bits = torch.empty(count, dtype=torch.int64, device=device)
    first, second = _keys(seed, name)
    for start in range(0, count, _CHUNK):
        stop = min(start + _CHUNK, count)
        counter = torch.arange(offset + start, offset + stop, dtype=torch.int64, device=device)
        bits[start:stop] = _mix(_mix(counter, first), second)
    return bits


def _keys(seed: int, name: str) -> tuple[int, int]:
    digest = hashlib.sha256(f"{seed}:{name}".encode()).digest()
    return int.from_bytes(digest[:4], "little"), int.from_bytes(digest[4:8], "little")


def _mix(values: torch.Tensor, key: int) -> torch.Tensor:
    """A bijection on 32 bits in which every input bit affects every output bit.

    Products wrap at 64 bits; the low 32 bits, which are all that is kept, are exact.
    """
    values = (values + key).bitwise_and_(MASK)
    for shift, multiplier in ((16, 0x7FEB352D), (15, 0x846CA68B)):
        values.bitwise_xor_(values >> shift).mul_(multiplier).bitwise_and_(MASK)
    return values.bitwise_xor_(values >> 16)
