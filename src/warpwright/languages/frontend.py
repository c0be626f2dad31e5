"""Frontend: everything that the house must know of a language. What sealing gives, a plan and device code, has none.

A language derives from Frontend. Methods marked abstract must be there; the others say what happens where a language
has nothing to offer: UNDECIDED, no constants to tune, no place on the axes, or a sentence why not.
"""

from __future__ import annotations

import hashlib
from abc import abstractmethod
from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, ClassVar, Protocol

from warpwright.core.candidate import Candidate, Flags
from warpwright.core.errors import Undecided, UsageError
from warpwright.core.launch.sealed import Sealed
from warpwright.core.records.evidence import Verdict
from warpwright.core.task import Case, Task
from warpwright.emulate.emulation import Emulation
from warpwright.languages.words import Words
from warpwright.prove.proof import Proof
from warpwright.seal.cache import Store
from warpwright.seal.refusal import Refusal

if TYPE_CHECKING:
    from warpwright.emulate.cost.counting import Counted
    from warpwright.emulate.program.running import Librarian

Traits = tuple[int, int, int, int]
"""Memory, compute, parallelism and fusion, each from 0 to 3."""
Value = bool | int | float | str
"""The value of a tunable; a str is an identifier, such as the name of a type."""


class Frontend(Protocol):
    name: ClassVar[str]
    """The value of Candidate.language, which is the name of the package."""
    endings: ClassVar[tuple[str, ...]]
    """Endings of file names, the usual one first."""
    aliases: ClassVar[tuple[str, ...]] = ()
    """Other names by which a user may ask for the language."""
    words: ClassVar[Words]
    folder: ClassVar[Path]
    """The package, whose folder `prompts` holds templates, hints and remedies."""

    def claims(self, text: str) -> bool:
        """Whether a text in a file with one of the endings is in this language: languages may share an ending."""
        return True

    def joined(self, text: str, folder: Path, includes: Sequence[Path]) -> str:
        """The text of a file with the other files of the user's that it includes."""
        return text

    def options(self, source: str) -> tuple[str, ...]:
        """The compiler flags that a source asks for itself."""
        return ()

    # The ladder

    @abstractmethod
    def problem(self, source: str) -> str | None:
        """One sentence on why a text is no source of this language, found without a compiler; None for a source."""

    @abstractmethod
    def seal(
        self, task: Task, candidate: Candidate, cases: Sequence[Case] | None = None, store: Store | None = None
    ) -> Sealed | Refusal:
        """Device code and a launch plan for every case, or why there are none. Only our faults raise."""

    def is_prepared(self, store: Store) -> bool:
        """Whether everything is there that the first candidate of this language would have to wait for."""
        return True

    def emulate(
        self,
        task: Task,
        candidate: Candidate,
        cases: Sequence[Case] | None = None,
        store: Store | None = None,
        library: Librarian | None = None,
        thorough: bool = False,
    ) -> Emulation:
        """Run the candidate on the CPU. `library` carries out operations of torch between its kernels; `thorough`
        allows minutes.
        """
        return Emulation(verdict=Verdict.UNDECIDED, reason=f"unsupported: no emulator for {self.words.title} kernels")

    def prove(
        self, task: Task, candidate: Candidate, cases: Sequence[Case] | None = None, store: Store | None = None
    ) -> Proof:
        """Compare the candidate's formula with the reference's in lifted numbers."""
        return Proof(reason=f"no lifted numbers for {self.words.title} kernels")

    def count(self, task: Task, candidate: Candidate, sealed: Sealed, case: Case) -> Counted:
        """Count the work of the candidate on one case, for the cost model. Undecided says why it cannot be counted."""
        raise Undecided(f"the cost model cannot count the work of {self.words.title} kernels")

    # The search

    def fingerprint(self, source: str) -> str:
        """Twenty hexadecimal digits, equal only for sources that do the same; as they stand, for equal texts."""
        return hashlib.sha256(source.encode("utf-8", "surrogateescape")).hexdigest()[:20]

    def traits(self, source: str) -> Traits | None:
        """The levels of a source on four axes; None if unknown."""
        return None

    def space(self, source: str) -> dict[str, tuple[Value, ...]]:
        """The values that each tunable of a source may have; empty where it leaves no constant open."""
        return {}

    def settings(self, source: str) -> dict[str, Value]:
        """The value that each tunable has now."""
        return {}

    def with_settings(self, source: str, values: Mapping[str, Value]) -> str:
        """The same source with other values. UsageError says why it cannot have them."""
        raise UsageError(f"the constants of {self.words.title} kernels cannot be tuned")

    def merged(self, task: Task, sources: Sequence[str], winners: Mapping[str, int], best: int) -> str:
        """One source that runs, for each case in `winners`, the source with that number, and the best for all others.

        UsageError says why there is none.
        """
        raise UsageError(f"{self.words.title} kernels cannot be merged")

    # What a writer is given

    @abstractmethod
    def skeleton(self, task: Task, *, prepare: bool = True) -> str:
        """A file to fill in: the entry points of a task. `prepare` says whether the optional entry is mentioned."""

    @abstractmethod
    def parameters(self, task: Task, entry: str) -> tuple[str, ...]:
        """The names of an entry point's parameters, in order."""

    @abstractmethod
    def outline(self, entries: Sequence[str]) -> str:
        """A whole file in a few lines, with the names of its entry points."""

    @abstractmethod
    def rules(self, flags: Flags) -> Mapping[str, str]:
        """The fields of the template `rules` in the language's own folder."""

    def dtype(self, name: str) -> str:
        """The name of an element type in this language; the plain name if there is no other."""
        return name

    def prompt_file(self, name: str) -> str | None:
        """The text of a file in the language's own folder of prompts: a template, `hints.toml` or `remedies.toml`."""
        file = self.folder / "prompts" / name
        return file.read_text(encoding="utf-8") if file.is_file() else None

    # What an answer gives

    @abstractmethod
    def exports(self, text: str) -> bool:
        """Whether a text declares an entry point, as every file of this language does."""

    @abstractmethod
    def is_whole(self, source: str) -> bool:
        """Whether a source reaches its end: models break off in the middle."""

    @abstractmethod
    def comments(self, source: str) -> Iterable[str]:
        """The comments of a source, with their marks, such as `// the rest is unchanged`."""

    def foreign(self, tag: str, text: str) -> str | None:
        """The language that a code block of an answer seems to be in instead of this one, if that can be told."""
        return None
