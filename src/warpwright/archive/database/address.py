"""The location of an archive: a path, a URL, or the user's data folder."""

from __future__ import annotations

import os
from pathlib import Path

from sqlalchemy import URL, make_url
from sqlalchemy.exc import ArgumentError

from warpwright.core.errors import UsageError

_FORMS = "a path, sqlite:///PATH or postgresql://USER@HOST/DATABASE"


def address(where: str | Path | None) -> Path | URL:
    """Returns the full path of an SQLite file, or the URL of a PostgreSQL database."""
    named = str(where) if where is not None else os.environ.get("WARPWRIGHT_ARCHIVE")
    if not named:
        return _file(default_path())
    return _url(named) if "://" in named else _file(Path(named))


def default_path() -> Path:
    base = os.environ.get("XDG_DATA_HOME")
    return (Path(base) if base else Path.home() / ".local" / "share") / "warpwright" / "archive.db"


def shown(place: Path | URL) -> str:
    """Formats an address for messages, without its password."""
    return str(place) if isinstance(place, Path) else place.render_as_string(hide_password=True)


def _url(named: str) -> Path | URL:
    try:
        url = make_url(named)
    except (ArgumentError, ValueError):
        raise UsageError(f"the address of the archive cannot be read; it is {_FORMS}") from None
    match url.drivername:
        case "sqlite" | "sqlite+pysqlite":
            return _named_file(url)
        case "postgresql" | "postgres" | "postgresql+psycopg":
            return url.set(drivername="postgresql+psycopg")
    raise UsageError(f"no archive can be kept in {url.drivername}; it is {_FORMS}")


def _named_file(url: URL) -> Path:
    if url.host or url.query:
        raise UsageError("the address of an SQLite archive is sqlite:///PATH and nothing else")
    if url.database in (None, "", ":memory:"):
        raise UsageError("an archive in memory would be lost; give a path")
    return _file(Path(str(url.database)))


def _file(path: Path) -> Path:
    """Resolves a path, so that a change of the working directory or a link still gives the same archive."""
    try:
        path = path.expanduser().resolve()
    except (OSError, RuntimeError, ValueError) as error:
        raise UsageError(f"{str(path)!r} is no path for an archive: {error}") from None
    if path.is_dir():
        raise UsageError(f"{path} is a folder; name a file in it, such as {path / 'archive.db'}")
    return path
