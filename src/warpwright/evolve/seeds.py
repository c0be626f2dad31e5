"""Derives random seeds from the run's seed and the number of the decision."""

from __future__ import annotations

import hashlib


def seed_of(run_seed: int, decision: int) -> int:
    """The seed of a decision: 48 bits, which every JSON reader keeps exactly."""
    digest = hashlib.sha256(f"{run_seed}/{decision}".encode()).digest()
    return int.from_bytes(digest[:6], "big")
