"""Files that are there whole or not at all."""

from __future__ import annotations

import contextlib
import os
from collections.abc import Iterator
from pathlib import Path

from warpwright.core.errors import UsageError


@contextlib.contextmanager
def written_whole(target: Path) -> Iterator[Path]:
    """A place beside the target to write to; it takes the target's name only when all went well."""
    part = target.with_name(f".{target.name}.{os.getpid()}.part")
    try:
        try:
            yield part
            _settle(part)
            os.replace(part, target)
        finally:
            part.unlink(missing_ok=True)
    except OSError as error:
        raise UsageError(f"{target} cannot be written: {error.strerror or error}") from None


def _settle(part: Path) -> None:
    """On disk before it gets its name: a power cut must not leave an empty file under it."""
    with open(part, "rb") as file:
        os.fsync(file.fileno())
