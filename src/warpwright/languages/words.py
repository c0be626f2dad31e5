"""What prompts and messages say of a language."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True, slots=True, kw_only=True)
class Words:
    title: str
    """Before the word kernel: a CUDA kernel."""
    fence: str
    """The tag on the fence of a code block."""
    file: str
    """The file that an answer must give, as the object of `give`."""
    extent: str
    """From where to where a whole file reaches."""
    openings: tuple[str, ...]
    """How a file may begin that an answer gives without a fence."""
    export: str
    """The declaration without which a file exports nothing."""
    missing: str
    """The complaint about an answer whose code blocks export nothing, up to the full stop."""
    unfinished: str
    """The complaint about a file that is not whole, up to the full stop."""
    dtype_at_run_time: str
    """How a source that serves several types finds out which one it is called with."""
    edit: tuple[str, str]
    """A line of code with a bug, and the same line without it: the example of a SEARCH/REPLACE edit."""
    tunable: str
    """How a source leaves a constant open for a tuner, in the imperative."""
