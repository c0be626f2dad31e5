"""The one way into an archive."""

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
    """A path or a URL; None means $WARPWRIGHT_ARCHIVE, else the user's data folder. Made where there is none, unless
    it was named to be read: then the name is a slip of the pen."""
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
    """What is no archive is left as it is: SQLite takes files of a few bytes for empty, and writes over them."""
    try:
        with path.open("rb") as file:
            beginning = file.read(len(_SQLITE))
    except FileNotFoundError:
        if must_exist:
            raise UsageError(f"there is no archive {path}") from None
        return
    except OSError:
        return  # to be explained by whoever opens it for good
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
    """Looks first without the write lock, which others may be holding."""
    with connections.reading() as connection:
        if is_current(connection, connections.place):
            return
    with connections.writing() as connection:
        bring_up_to_date(connection, connections.place)


def _claims(place: Path | URL, connections: Connections) -> Claims:
    return FileClaims(place) if isinstance(place, Path) else ServerClaims(connections)
