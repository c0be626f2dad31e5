"""Records every request with its answer or failure, as JSON lines."""

from __future__ import annotations

import fcntl
import os
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path

from warpwright.core.codec import content_id, dumps
from warpwright.core.errors import ModelFailed, OurFault, UsageError
from warpwright.core.protocols import Model, Reply, Request
from warpwright.core.records.evidence import Fault
from warpwright.models.api.failures import Answered, Failure, earlier, failure_of


@dataclass(frozen=True, slots=True, kw_only=True)
class Exchange:
    """A request with its reply or failure, and the attempts before it that may have been billed."""

    request: Request
    reply: Reply | None = None
    failure: Failure | None = None
    earlier: tuple[Failure, ...] = ()

    def __post_init__(self) -> None:
        if (self.reply is None) == (self.failure is None):
            raise ValueError("an exchange has either a reply or a failure")


def identity(request: Request) -> str:
    """Returns a key that is equal for requests with the same text and settings."""
    asked = {"prompt": request.prompt, "purpose": request.purpose}
    return content_id(asked | {"temperature": request.temperature, "effort": request.effort})


def circumstances(request: Request) -> str:
    """Returns a key that is equal for requests with the same purpose, temperature and effort, whatever their text."""
    return content_id({"purpose": request.purpose, "temperature": request.temperature, "effort": request.effort})


class Recorded:
    """A model whose exchanges are appended to a file, which threads and processes may share."""

    def __init__(self, model: Model, file: Path) -> None:
        self.name = model.name
        self._model, self._file = model, file
        try:
            file.parent.mkdir(parents=True, exist_ok=True)
            with self._opened() as handle:
                _drop_torn_line(handle)
        except OSError as error:
            raise UsageError(f"nothing can be recorded in {file}: {error.strerror}") from None

    def complete(self, request: Request) -> Reply:
        try:
            reply = self._model.complete(request)
        except ModelFailed as error:
            self._append(Exchange(request=request, failure=failure_of(error), earlier=earlier(error)))
            raise
        alone = reply.alone if isinstance(reply, Answered) else reply
        self._append(Exchange(request=request, reply=alone, earlier=earlier(reply)))
        return reply

    def _append(self, exchange: Exchange) -> None:
        rest = dumps(exchange).encode() + b"\n"
        try:
            with self._opened() as handle:
                while rest:
                    rest = rest[os.write(handle, rest) :]
        except OSError as error:
            raise OurFault(Fault(where=f"recording in {self._file}", message=str(error.strerror))) from None

    @contextmanager
    def _opened(self) -> Iterator[int]:
        handle = os.open(self._file, os.O_RDWR | os.O_APPEND | os.O_CREAT, 0o644)
        try:
            fcntl.flock(handle, fcntl.LOCK_EX)
            yield handle
        finally:
            os.close(handle)


def _drop_torn_line(handle: int) -> None:
    """Removes a last line that a killed process left incomplete; the next record would be appended to it."""
    size = os.lseek(handle, 0, os.SEEK_END)
    end, step = size, 1 << 16
    while end > 0:
        start = max(0, end - step)
        newline = os.pread(handle, end - start, start).rfind(b"\n")
        if newline >= 0:
            end = start + newline + 1
            break
        end = start
    if end < size:
        os.ftruncate(handle, end)
