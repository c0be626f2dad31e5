"""Builds models from specs such as "anthropic:NAME". Nothing is sent before the first request."""

from __future__ import annotations

import os
from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path

from warpwright.core.errors import UsageError
from warpwright.core.protocols import Model
from warpwright.models import command
from warpwright.models.api import provider
from warpwright.models.api.provider import Provider, Wire
from warpwright.models.api.retries import Patience, Retried
from warpwright.models.clock import Clock, SystemClock
from warpwright.models.mailbox import Mailbox
from warpwright.models.recordings.recording import Recorded, circumstances, identity
from warpwright.models.recordings.replay import Replay
from warpwright.models.scripted import Scripted
from warpwright.models.spec import Spec, parse
from warpwright.models.spending.limits import DEFAULT_MAX_TOKENS, Budget, Limited, Metered, Priced
from warpwright.models.spending.prices import Prices, load_prices

OTHER_KEY = "WARPWRIGHT_MODEL_KEY"
"""The key variable of other servers: a provider's key is never sent to another server."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Home:
    """A provider's own server: its URL, its protocol, and the variables that may hold its key."""

    url: str
    wire: Wire
    keys: tuple[str, ...]


HOMES = {
    "anthropic": Home(url="https://api.anthropic.com", wire=Wire.ANTHROPIC, keys=("ANTHROPIC_API_KEY",)),
    "openai": Home(url="https://api.openai.com/v1", wire=Wire.RESPONSES, keys=("OPENAI_API_KEY",)),
    "google": Home(
        url="https://generativelanguage.googleapis.com", wire=Wire.GOOGLE, keys=("GEMINI_API_KEY", "GOOGLE_API_KEY")
    ),
}


@dataclass(frozen=True, slots=True, kw_only=True)
class Terms:
    """The terms on which models are used. Several models may share a budget.

    `stream` None streams from a provider's own server, where a silent connection may be closed, and not from others.
    `deadline_s` None takes the default of the kind of model. `record` names a file for all exchanges.
    """

    budget: Budget | None = None
    allow_unpriced: bool = False
    max_tokens: int = DEFAULT_MAX_TOKENS
    at_once: int | None = None
    per_minute: int | None = None
    stream: bool | None = None
    deadline_s: float | None = None
    patience: Patience = field(default_factory=Patience)
    record: Path | None = None


def model_named(
    spec: str,
    *,
    folder: Path,
    prices: Prices | None = None,
    terms: Terms | None = None,
    clock: Clock | None = None,
    environment: Mapping[str, str] = os.environ,
) -> Model:
    """Builds the model of a spec on these terms; relative paths start in `folder`. A UsageError names what is
    missing.
    """
    terms, clock = terms or Terms(), clock or SystemClock()
    parsed = parse(spec)
    if parsed.kind in HOMES:
        asked: Priced = _provider(parsed, terms, prices or load_prices(environment), environment)
    else:
        asked = _other(parsed, terms, folder, clock)
    return _on_terms(asked, terms, clock, retried=parsed.kind in HOMES)


def _on_terms(asked: Priced, terms: Terms, clock: Clock, *, retried: bool) -> Model:
    model: Model = asked
    if terms.budget is not None:
        model = Metered(asked, budget=terms.budget, allow_unpriced=terms.allow_unpriced, max_tokens=terms.max_tokens)
    if terms.at_once is not None or terms.per_minute is not None:
        model = Limited(model, at_once=terms.at_once, per_minute=terms.per_minute, clock=clock)
    if retried:
        model = Retried(model, patience=terms.patience, clock=clock)
    return Recorded(model, terms.record) if terms.record is not None else model


def _provider(spec: Spec, terms: Terms, prices: Prices, environment: Mapping[str, str]) -> Provider:
    home = HOMES[spec.kind]
    own = spec.url is None
    compatible = not own and home.wire is Wire.RESPONSES
    variable, key = _key(spec, home, environment)
    return Provider(
        name=str(spec),
        wire=Wire.CHAT if compatible else home.wire,
        model=spec.rest,
        url=spec.url or home.url,
        key=key,
        key_variable=variable,
        prices=prices,
        stream=own if terms.stream is None else terms.stream,
        # many compatible servers reject a request with a schema
        structured=not compatible,
        deadline_s=provider.DEFAULT_DEADLINE_S if terms.deadline_s is None else terms.deadline_s,
    )


def _key(spec: Spec, home: Home, environment: Mapping[str, str]) -> tuple[str, str | None]:
    """Returns the environment variable of the key, set or not, and the key."""
    names = home.keys if spec.url is None else (OTHER_KEY,)
    for name in names:
        if key := environment.get(name, "").strip():
            if not key.isascii() or not key.isprintable() or " " in key:
                raise UsageError(f"what is in {name} is no key: it holds white space or letters that no key has")
            return name, key
    if spec.url is None:
        raise UsageError(f"{spec} needs a key; set {' or '.join(names)}, or name a server of your own with @URL")
    return names[0], None


def _other(spec: Spec, terms: Terms, folder: Path, clock: Clock) -> Priced:
    if spec.kind == "command":
        deadline_s = command.DEFAULT_DEADLINE_S if terms.deadline_s is None else terms.deadline_s
        return command.Command(spec.rest, folder=folder, deadline_s=deadline_s)
    place = folder / Path(spec.rest).expanduser()
    if spec.kind == "mailbox":
        return Mailbox(place, name=str(spec), deadline_s=terms.deadline_s, clock=clock)
    if spec.kind == "scripted":
        return Scripted(place, name=str(spec))
    return Replay(place, name=str(spec), match=identity if spec.kind == "replay" else circumstances)
