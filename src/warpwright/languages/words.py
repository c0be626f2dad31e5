"""The words for a language in prompts and messages."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass


@dataclass(frozen=True, slots=True, kw_only=True)
class Words:
    title: str
    """The name of the language before the word kernel: a CUDA kernel."""
    fence: str
    """The tag on the fence of a code block."""
    file: str
    """The file that an answer must give, such as "one CUDA C++ file that exports its entry"."""
    begins: str
    """The first thing in a file, such as "first include"."""
    ends: str
    """The last thing in a file, such as "binding"."""
    openings: tuple[str, ...]
    """The texts with which a file given without a fence may begin."""
    missing: str
    """The message about an answer whose code blocks export nothing."""
    unfinished: str
    """The message about an incomplete file."""
    dtype_at_run_time: str
    """An instruction for finding the type of a call in a source for several types."""
    wrong_line: str
    """A line of code with a bug, as the example of an edit."""
    right_line: str
    """The same line without the bug."""
    tunable: str
    """An instruction for leaving a constant to a tuner."""

    @property
    def fields(self) -> Mapping[str, str]:
        """The fields that every template may use."""
        return {
            "language": self.title,
            "fence": self.fence,
            "begins": self.begins,
            "ends": self.ends,
            "wrong_line": self.wrong_line,
            "right_line": self.right_line,
        }
