"""Opens archives."""

from __future__ import annotations

import contextlib
from pathlib import Path

from sqlalchemy import URL

from warpwright.archive.claims import Claims, FileClaims, ServerClaims
from warpwright.archive.database.address import address, shown
from warpwright.archive.database.connections import Connections
from warpwright.archive.database.engine import engine_for
from warpwright.archive.database.migrate import bring_up_to_date, is_current
from warpwright.archive.store import Archive
from warpwright.core.errors import UsageError

_SQLITE = b"SQLite format 3\0"


def open_archive(where: str | Path | None = None, *, to_read: bool = False) -> Archive:
    """Opens an archive by path or URL; by default $WARPWRIGHT_ARCHIVE, else one in the user's data folder.

    A missing archive is created, unless it was named to be read: then the name is probably a mistake.
    """
    place = address(where)
    if isinstance(place, Path):
        _check_file(place, must_exist=to_read and where is not None)
    connections = Connections(engine_for(place), shown(place))
    with contextlib.ExitStack() as undo:
        undo.callback(connections.close)
        _prepare(place, connections)
        undo.pop_all()
    return Archive(connections, _claims(place, connections))


def _check_file(path: Path, *, must_exist: bool) -> None:
    """Refuses files that are no archive: SQLite treats files of a few bytes as empty and would overwrite them."""
    try:
        with path.open("rb") as file:
            beginning = file.read(len(_SQLITE))
    except FileNotFoundError:
        if must_exist:
            raise UsageError(f"there is no archive {path}") from None
        return
    except OSError:
        return  # opening the archive reports the error
    if beginning and beginning != _SQLITE:
        raise UsageError(f"the archive {path} is a file of another kind, not an archive")


def _prepare(place: Path | URL, connections: Connections) -> None:
    try:
        if isinstance(place, Path):
            place.parent.mkdir(parents=True, exist_ok=True)
        _migrate(connections)
    except OSError as error:
        raise UsageError(f"the archive {connections.place} cannot be opened or made: {error.strerror}") from None


def _migrate(connections: Connections) -> None:
    """Checks the version first without the write lock, which others may hold."""
    with connections.reading() as connection:
        if is_current(connection, connections.place):
            return
    with connections.writing() as connection:
        bring_up_to_date(connection, connections.place)


def _claims(place: Path | URL, connections: Connections) -> Claims:
    return FileClaims(place) if isinstance(place, Path) else ServerClaims(connections)
