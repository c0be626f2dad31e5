"""Writes files atomically."""

from __future__ import annotations

import contextlib
import os
from collections.abc import Iterator
from pathlib import Path

from warpwright.core.errors import UsageError


@contextlib.contextmanager
def atomic_write(target: Path) -> Iterator[Path]:
    """Yields a temporary path beside the target, which replaces the target after success."""
    part = target.with_name(f".{target.name}.{os.getpid()}.part")
    try:
        try:
            yield part
            _sync(part)
            os.replace(part, target)
        finally:
            part.unlink(missing_ok=True)
    except OSError as error:
        raise UsageError(f"{target} cannot be written: {error.strerror or error}") from None


def _sync(part: Path) -> None:
    """Syncs the file before it is renamed: a power failure must not leave an empty file under the final name."""
    with open(part, "rb") as file:
        os.fsync(file.fileno())
