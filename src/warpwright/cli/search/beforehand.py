"""Checks for mistakes before any slow import: torch alone takes seconds."""

from __future__ import annotations

import os
from pathlib import Path

from warpwright.core.errors import UsageError


def check_task(name: str) -> None:
    """Checks names of suite tasks only: a user's file must run before its contents are known."""
    if ".py" in name or Path(name).exists():
        return
    from warpwright.tasks import load

    load(name)


def check_source(file: Path | None) -> None:
    """Checks that a start kernel is text, since it is archived and shown to models."""
    try:
        if file is not None:
            file.read_bytes().decode("utf-8")
    except OSError as error:
        raise UsageError(f"{file} cannot be read: {error.strerror}") from None
    except UnicodeDecodeError:
        raise UsageError(f"{file} cannot be read: it is not UTF-8 text") from None


def check_file(file: Path | None) -> None:
    """Checks that the file to be written at the end of long work can be written."""
    if file is None:
        return
    folder = file.absolute().parent
    if not folder.is_dir():
        raise UsageError(f"{file} cannot be written: there is no folder {folder}")
    if file.is_dir() or not os.access(folder, os.W_OK):
        raise UsageError(f"{file} cannot be written: name a file in a folder that can be written to")


def make_folder(folder: Path) -> None:
    try:
        folder.mkdir(parents=True, exist_ok=True)
    except OSError as error:
        raise UsageError(f"{folder} cannot be made: {error.strerror}") from None
    if not os.access(folder, os.W_OK):
        raise UsageError(f"{folder} cannot be written to")
