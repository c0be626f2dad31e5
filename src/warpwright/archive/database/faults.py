"""Database errors as one sentence: those that the user can correct, and those on our side."""

from __future__ import annotations

import contextlib
from collections.abc import Iterator, Mapping
from typing import TypeVar

from sqlalchemy.exc import DBAPIError, SQLAlchemyError

from warpwright.core.errors import OurFault, UsageError, WarpwrightError
from warpwright.core.records.evidence import Fault

Entry = TypeVar("Entry")

# By a prefix of SQLite's error name or of PostgreSQL's SQLSTATE.
_USER_ERRORS = {
    "SQLITE_CANTOPEN": "cannot be opened or made; is its folder there, and may it be written?",
    "SQLITE_READONLY": "may only be read; an archive must be writable",
    "SQLITE_PERM": "may not be opened",
    "SQLITE_NOTADB": "is a file of another kind, not an archive",
    "25006": "may only be read; an archive must be writable",
    "28": "does not let this user in; check user and password",
    "3D000": "does not exist; create the database first",
    "3F000": "has no schema to keep its tables in; check the search path",
    "42501": "does not let this user do that; the user must own the archive's tables",
}
_KEPT = "acknowledged records are kept, the current write is lost"
# The sentence, and whether a later attempt may succeed.
_FAULTS = {
    "SQLITE_FULL": (f"the disk is full; {_KEPT}", True),
    "SQLITE_IOERR": (f"the disk failed to read or write, perhaps because it is full; {_KEPT}", True),
    "SQLITE_BUSY": ("other processes kept it busy for too long", True),
    "SQLITE_LOCKED": ("other processes kept it busy for too long", True),
    "SQLITE_CORRUPT": ("the file is damaged", False),
    "40": ("two writers got in each other's way", True),
    "53100": (f"the server's disk is full; {_KEPT}", True),
    "53": ("the server has too little memory or too many connections", True),
    "55P03": ("other processes kept it busy for too long", True),
    "57": ("the server is stopping or starting", True),
}


@contextlib.contextmanager
def as_archive_errors(place: str) -> Iterator[None]:
    """Converts every database error inside to one of ours."""
    try:
        yield
    except SQLAlchemyError as error:
        raise in_words(error, place) from error


def in_words(error: SQLAlchemyError, place: str) -> WarpwrightError:
    code = _code(error)
    if sentence := _longest(_USER_ERRORS, code):
        return UsageError(f"the archive {place} {sentence}")
    if entry := _longest(_FAULTS, code):
        return _fault(place, *entry)
    if isinstance(error, DBAPIError) and error.connection_invalidated:
        return _fault(place, f"the connection was lost; {_KEPT}", True)
    if isinstance(error, DBAPIError) and not code and error.statement is None:
        return UsageError(f"the archive {place} cannot be reached: {_first_line(error)}")
    return _fault(place, _first_line(error), False)


def _fault(place: str, sentence: str, retryable: bool) -> OurFault:
    return OurFault(Fault(where=f"archive {place}", message=sentence, retryable=retryable))


def _code(error: SQLAlchemyError) -> str:
    cause = getattr(error, "orig", None)
    return getattr(cause, "sqlite_errorname", None) or getattr(cause, "sqlstate", None) or ""


def _longest(table: Mapping[str, Entry], code: str) -> Entry | None:
    found = max((start for start in table if code.startswith(start)), key=len, default=None)
    return None if found is None else table[found]


def _first_line(error: SQLAlchemyError) -> str:
    text = str(getattr(error, "orig", None) or error).strip()
    return text.splitlines()[0] if text else type(error).__name__
