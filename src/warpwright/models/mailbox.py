"""A folder in which people or other programs answer: NNNN-purpose.prompt.md is written, NNNN-purpose.answer.md is read.

A letter identifies its request by content. The same request, from this process or a later one, finds the existing
letter and its answer.
"""

from __future__ import annotations

import fcntl
import json
import re
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from warpwright.core.errors import ModelFailed, UsageError
from warpwright.core.protocols import Reply, Request
from warpwright.models.clock import Clock, SystemClock
from warpwright.models.recordings.recording import identity

_LETTER = re.compile(r"(\d{4,})-[a-z0-9-]+\.prompt\.md")
_HEAD = re.compile(r"<!-- warpwright letter \d+, request ([0-9a-f]+) -->")
_State = tuple[int, int]
"""Size and modification time: a file is complete once both stay the same."""


class Mailbox:
    """A mailbox, which threads and processes may share. Without a deadline it waits indefinitely."""

    def __init__(
        self,
        folder: Path,
        *,
        name: str = "mailbox",
        deadline_s: float | None = None,
        poll_s: float = 1.0,
        clock: Clock | None = None,
    ) -> None:
        self.name = name
        self._folder, self._deadline_s, self._poll_s = folder, deadline_s, poll_s
        self._clock = clock or SystemClock()
        try:
            folder.mkdir(parents=True, exist_ok=True)
            with self._locked():
                pass
        except OSError as error:
            raise UsageError(f"{folder} cannot be used as a mailbox: {error.strerror}") from None

    def ceiling(self, request: Request) -> float | None:
        """Returns None: the cost of an answer is unknown."""
        return None

    def complete(self, request: Request) -> Reply:
        begun = time.monotonic()
        answer = self._answer_to(self._posted(request))
        text = self._awaited(answer)
        return Reply(text=text, model=self.name, seconds=time.monotonic() - begun)

    def _posted(self, request: Request) -> Path:
        """Returns the letter with this request: an existing one, or a new one with the next number."""
        wanted = identity(request)
        with self._locked():
            letters = {int(fit[1]): path for path in self._folder.iterdir() if (fit := _LETTER.fullmatch(path.name))}
            for _, path in sorted(letters.items()):
                if _request_of(path) == wanted:
                    return path
            return self._written(request, wanted, max(letters, default=0) + 1)

    def _written(self, request: Request, wanted: str, number: int) -> Path:
        purpose = re.sub(r"[^a-z0-9]+", "-", request.purpose.lower()).strip("-") or "question"
        letter = self._folder / f"{number:04d}-{purpose}.prompt.md"
        draft = letter.with_name(f".{letter.name}.draft")
        text = _letter(request, wanted, number, self._answer_to(letter).name)
        draft.write_text(text, encoding="utf-8", errors="surrogatepass")
        return draft.replace(letter)

    @staticmethod
    def _answer_to(letter: Path) -> Path:
        return letter.with_name(letter.name.removesuffix(".prompt.md") + ".answer.md")

    def _awaited(self, answer: Path) -> str:
        begun, before = self._clock.now(), None
        while True:
            state = _state(answer)
            if state is not None and (state == before or self._rests(state)):
                return self._read(answer)
            if self._deadline_s is not None and not self._clock.now() - begun < self._deadline_s:
                raise ModelFailed("timeout", f"{answer} was not written within {self._deadline_s:g} s", retryable=True)
            before = state
            self._clock.sleep(self._poll_s)

    def _rests(self, state: _State) -> bool:
        """Whether the file was unchanged for some time before the first look."""
        return time.time() - state[1] / 1e9 > 2 * self._poll_s

    def _read(self, answer: Path) -> str:
        try:
            text = answer.read_text(encoding="utf-8")
        except (OSError, UnicodeDecodeError) as error:
            raise ModelFailed("malformed", f"{answer} cannot be read as UTF-8 text: {error}") from None
        if not text.strip():
            raise ModelFailed("malformed", f"{answer} is blank; delete it to wait for another answer")
        return text

    @contextmanager
    def _locked(self) -> Iterator[None]:
        with open(self._folder / ".lock", "w") as lock:
            fcntl.flock(lock, fcntl.LOCK_EX)
            yield


def _state(path: Path) -> _State | None:
    """Returns size and modification time; None if there is nothing to read yet."""
    try:
        found = path.stat()
    except OSError:
        return None
    return (found.st_size, found.st_mtime_ns) if found.st_size > 0 else None


def _request_of(letter: Path) -> str | None:
    try:
        with letter.open(encoding="utf-8", errors="replace") as text:
            head = _HEAD.match(text.readline(200))
    except OSError:
        return None
    return head[1] if head else None


def _letter(request: Request, wanted: str, number: int, answer: str) -> str:
    wishes = [
        f"> Write the whole answer, and nothing but the answer, to `{answer}` in this folder. It is read once it has",
        "> stopped growing, so write it in one go, or under another name and rename it. The question is everything",
        f"> below the line. Its purpose: {request.purpose}.",
    ]
    if request.effort is not None:
        wishes.append(f"> Effort asked for: {request.effort}.")
    if request.schema is not None:
        wishes.append(f"> The answer is to be JSON of this schema: `{json.dumps(request.schema)}`")
    head = f"<!-- warpwright letter {number}, request {wanted} -->"
    return "\n".join([head, *wishes, "", "---", "", request.prompt]) + "\n"
