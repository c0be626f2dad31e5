"""The store of artefacts: folders named by a hash of their inputs, each complete or absent.

An entry is filled in a staging folder and renamed into place, so that a killed process leaves no partial entry and two
processes that create the same entry do not conflict. The least recently used entries are evicted when the store grows
too large.
"""

from __future__ import annotations

import contextlib
import fcntl
import os
import shutil
import tempfile
import time
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from pathlib import Path

DEFAULT_LIMIT = 4 << 30
_STALE_S = 3600.0
"""The age in seconds above which a staging folder belongs to a dead process."""
_SWEEP_EVERY_S = 60.0
"""The interval between evictions: computing the size of the store reads every file's metadata."""


def default_root() -> Path:
    named = os.environ.get("WARPWRIGHT_CACHE")
    if named:
        return Path(named)
    base = os.environ.get("XDG_CACHE_HOME")
    return (Path(base) if base else Path.home() / ".cache") / "warpwright"


@dataclass(frozen=True, slots=True, kw_only=True)
class Store:
    root: Path
    limit_bytes: int = DEFAULT_LIMIT

    def find(self, key: str) -> Path | None:
        """The folder of an entry, marked as used now."""
        folder = self._place(key)
        try:
            os.utime(folder)
        except OSError:
            return None
        return folder

    def make(self, key: str, fill: Callable[[Path], None]) -> Path:
        """The folder of an entry, which `fill` creates if it does not exist."""
        found = self.find(key)
        if found is not None:
            return found
        with self.staging() as folder:
            fill(folder)
            place = self._place(key)
            place.parent.mkdir(parents=True, exist_ok=True)
            # Another process may have created the same entry first.
            with contextlib.suppress(OSError):
                folder.rename(place)
        if _used(self.root / "swept") < time.time() - _SWEEP_EVERY_S:
            self.evict()
        return self._place(key)

    def make_once(self, key: str, fill: Callable[[Path], None]) -> Path:
        """Like `make`, but for expensive entries: concurrent processes wait for the first."""
        turns = self.root / "turns"
        turns.mkdir(parents=True, exist_ok=True)
        with open(turns / key, "w") as turn:
            fcntl.flock(turn, fcntl.LOCK_EX)
            return self.make(key, fill)

    @contextlib.contextmanager
    def staging(self) -> Iterator[Path]:
        """A private folder on the store's file system, removed afterwards unless it was renamed."""
        parent = self.root / "staging"
        parent.mkdir(parents=True, exist_ok=True)
        folder = Path(tempfile.mkdtemp(dir=parent))
        try:
            yield folder
        finally:
            shutil.rmtree(folder, ignore_errors=True)

    def evict(self) -> None:
        """Removes staging folders of dead processes, then the least recently used entries above the limit."""
        self.root.mkdir(parents=True, exist_ok=True)
        (self.root / "swept").touch()
        for leftover in self._children(self.root / "staging"):
            if _used(leftover) < time.time() - _STALE_S:
                shutil.rmtree(leftover, ignore_errors=True)
        entries = sorted(self._entries(), key=_used, reverse=True)
        total = 0
        for entry in entries:
            total += _size(entry)
            if total > self.limit_bytes and entry != entries[0]:
                self._remove(entry)

    def _remove(self, entry: Path) -> None:
        with self.staging() as folder, contextlib.suppress(OSError):
            entry.rename(folder / entry.name)

    def _entries(self) -> list[Path]:
        shelves = self._children(self.root / "entries")
        return [entry for shelf in shelves for entry in self._children(shelf)]

    @staticmethod
    def _children(folder: Path) -> list[Path]:
        try:
            return list(folder.iterdir())
        except OSError:
            return []

    def _place(self, key: str) -> Path:
        return self.root / "entries" / key[:2] / key


def _used(entry: Path) -> float:
    try:
        return entry.stat().st_mtime
    except OSError:
        return 0.0


def _size(entry: Path) -> int:
    with contextlib.suppress(OSError):
        return sum(file.stat().st_size for file in entry.iterdir())
    return 0
