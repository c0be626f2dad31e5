"""What is proposed for a task: a source text and how it is to be compiled."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

from warpwright.core.codec import content_id


@dataclass(frozen=True, slots=True, kw_only=True)
class Flags:
    """How a candidate is compiled. Part of its identity: other flags, another candidate."""

    gpu: str = "h200"
    fast_math: bool = False
    extra: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True, kw_only=True)
class Candidate:
    """One `.cu` file in torch-extension form. Changed text is another candidate."""

    source: str
    flags: Flags = field(default_factory=Flags)

    @property
    def id(self) -> str:
        return content_id(self)


@dataclass(frozen=True, slots=True, kw_only=True)
class Run:
    """One search for a kernel: what was asked, with which settings, from which seed."""

    id: str
    task: str
    seed: int
    settings: Mapping[str, Any] = field(default_factory=dict)
    started: str
    warpwright: str
