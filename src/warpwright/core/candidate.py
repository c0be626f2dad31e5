"""What is proposed for a task: a source text and how it is to be compiled."""

from __future__ import annotations

from dataclasses import dataclass, field

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
