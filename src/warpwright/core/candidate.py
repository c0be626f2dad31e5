"""A proposed kernel: source text, its language, and how it is compiled."""

from __future__ import annotations

from dataclasses import dataclass, field

from warpwright.core.codec import OMIT_DEFAULT, content_id

CUDA = "cuda"
"""The language of candidates that name none: CUDA C++ in the form of a torch extension."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Flags:
    """The compiler flags of a candidate, which are part of its identity."""

    gpu: str = "h200"
    fast_math: bool = False
    extra: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True, kw_only=True)
class Candidate:
    """One source file. Its id changes with the text, the language and the flags."""

    source: str
    language: str = field(default=CUDA, metadata=OMIT_DEFAULT)
    """The name of a package in `languages`."""
    flags: Flags = field(default_factory=Flags)

    @property
    def id(self) -> str:
        return content_id(self)
