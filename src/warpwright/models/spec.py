"""Parses a model's spec: PROVIDER:NAME, PROVIDER:NAME@URL, command:CMD, mailbox:DIR, replay:FILE, reworded:FILE,
scripted:FILE.
"""

from __future__ import annotations

import difflib
from dataclasses import dataclass
from urllib.parse import urlsplit

from warpwright.core.errors import UsageError

PROVIDERS = ("anthropic", "openai", "google")
OTHERS = ("command", "mailbox", "replay", "reworded", "scripted")


@dataclass(frozen=True, slots=True, kw_only=True)
class Spec:
    """A parsed spec. `rest` is the name of a model, a command or a path; `url` a server other than the provider's
    own.
    """

    kind: str
    rest: str
    url: str | None = None

    def __str__(self) -> str:
        return f"{self.kind}:{self.rest}" + (f"@{self.url}" if self.url else "")


def parse(text: str) -> Spec:
    """Parses a spec; a UsageError names the problem and the correct form."""
    kind, colon, rest = text.partition(":")
    if not colon or kind not in PROVIDERS + OTHERS:
        raise UsageError(_unknown(text, kind, bool(colon)))
    if not rest.strip():
        raise UsageError(f"the model '{text}' ends after its colon; {_example(kind)}")
    if kind in OTHERS:
        return Spec(kind=kind, rest=rest)
    name, at, url = rest.partition("@")
    if not name.strip() or name != name.strip():
        raise UsageError(f"the model '{text}' has no name before its address; {_example(kind)}")
    return Spec(kind=kind, rest=name, url=_checked(url, text) if at else None)


def _unknown(text: str, kind: str, has_colon: bool) -> str:
    known = ", ".join(PROVIDERS + OTHERS)
    if not has_colon:
        return (
            f"the model '{text}' names no provider; write one of {known}, a colon and the rest, as in {_sample(text)}"
        )
    near = difflib.get_close_matches(kind.lower(), PROVIDERS + OTHERS, n=1)
    return f"there is no model provider '{kind}'; " + (f"did you mean {near[0]}?" if near else f"use one of {known}")


def _sample(text: str) -> str:
    owners = {"claude": "anthropic", "gemini": "google", "gemma": "google"}
    owner = next((owner for family, owner in owners.items() if text.startswith(family)), "openai")
    return f"{owner}:{text or 'NAME'}"


def _example(kind: str) -> str:
    forms = {"command": "CMD", "mailbox": "DIR", "replay": "FILE", "reworded": "FILE", "scripted": "FILE"}
    return f"write {kind}:{forms.get(kind, 'NAME or ' + kind + ':NAME@http://127.0.0.1:8000/v1')}"


def _checked(url: str, text: str) -> str:
    problem = _problem(url)
    if problem:
        raise UsageError(f"the address in '{text}' {problem}; write it as http://127.0.0.1:8000/v1")
    return url.rstrip("/")


def _problem(url: str) -> str | None:
    try:
        parts = urlsplit(url)
        port = parts.port
    except ValueError as error:
        return f"cannot be read ({error})"
    if parts.scheme not in ("http", "https"):
        return "does not begin with http:// or https://"
    if not parts.hostname or port == 0 or not url.isascii() or not url.isprintable() or " " in url:
        return "names no server"
    if parts.username is not None or parts.password is not None:
        return "holds a password, which belongs into $WARPWRIGHT_MODEL_KEY"
    return "has more than a path after its server" if parts.query or parts.fragment else None
