"""Small modules in TTIR, and launches on numpy arrays."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

from warpwright.ttir.findings import Finding
from warpwright.ttir.memory.allocations import Memory, buffer
from warpwright.ttir.running import Launch, run
from warpwright.ttir.syntax.parsing import parse

Run = Callable[..., tuple[Finding, ...]]


@pytest.fixture
def launch() -> Run:
    """Runs the lines of a kernel: parameters and arguments by name. Arrays hold the results afterwards."""

    def go(
        lines: str, parameters: str, *given: Any, grid: int = 1, reverse: bool = False, unwritten: int | None = None
    ) -> tuple[Finding, ...]:
        module = parse(kernel(lines, parameters))
        made = {
            position: buffer(f"p{position}", (position + 1) << 40, value, written=position != unwritten)
            for position, value in enumerate(given)
            if isinstance(value, np.ndarray)
        }
        arguments = [made[position].base if position in made else value for position, value in enumerate(given)]
        found = run(
            Launch(module=module, grid=(grid, 1, 1), arguments=arguments, reverse=reverse), Memory(made.values())
        )
        for position, one in made.items():
            given[position].reshape(-1).view(np.uint8)[:] = one.bytes()
        return found

    return go


def kernel(lines: str, parameters: str) -> str:
    body = "\n".join(lines.strip().splitlines())
    head = f"tt.func public @k({parameters}) attributes {{noinline = false}}"
    return f"module {{\n{head} {{\n{body}\ntt.return\n}}\n}}\n"
