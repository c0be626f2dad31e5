"""Dollars per token, with their source. An unknown price is None, never zero.

Prices come from the user's own file first, then from genai-prices: offline data that comes with the client library,
covers current models, long-context tiers and dated changes, and is updated with the package. A server other than the
provider's has a price only if the user's file names it.
"""

from __future__ import annotations

import datetime
import json
import math
import os
import tomllib
from collections.abc import Mapping
from dataclasses import dataclass
from fnmatch import fnmatchcase
from importlib import metadata
from pathlib import Path
from typing import Any

from warpwright.core.codec import CodecError, decode
from warpwright.core.errors import UsageError
from warpwright.core.protocols import Request
from warpwright.models.spec import PROVIDERS

VARIABLE = "WARPWRIGHT_PRICES"
_MILLION = 1e6
_FRAME_TOKENS = 512
"""An upper bound of the tokens that providers add to a single message."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Rate:
    """Dollars per million tokens, for every model whose spec matches the pattern."""

    model: str
    input: float
    output: float
    cached_input: float | None = None
    as_of: str | None = None
    source: str = "your own price"

    def __post_init__(self) -> None:
        for figure in (self.input, self.output, self.cached_input):
            if figure is not None and not 0 <= figure < math.inf:
                raise ValueError(f"{figure} is no price")

    def cost(self, usage: Mapping[str, int]) -> float:
        cached = usage.get("cached", 0)
        again = self.input if self.cached_input is None else self.cached_input
        return ((usage["input"] - cached) * self.input + cached * again + usage["output"] * self.output) / _MILLION


@dataclass(frozen=True, slots=True, kw_only=True)
class Prices:
    """Prices; the user's own `rates` precede all others, the first match counts."""

    rates: tuple[Rate, ...] = ()

    def cost(self, model: str, usage: Mapping[str, int]) -> float | None:
        """Returns the cost of a call in dollars; None if price or usage is unknown, or the usage is inconsistent."""
        if not {"input", "output"} <= usage.keys() or not 0 <= usage.get("cached", 0) <= usage["input"]:
            return None
        rate = self._rate(model)
        return rate.cost(usage) if rate else _published(model, usage)

    def ceiling(self, model: str, prompt_tokens: int, max_tokens: int | None) -> float | None:
        """Returns the upper bound of a call's cost: the most expensive billing of its prompt, and the longest
        answer.
        """
        if max_tokens is None:
            return None
        plain = {"input": prompt_tokens, "output": max_tokens}
        ways = (plain, plain | {"cached": prompt_tokens}, plain | {"cache_written": prompt_tokens})
        costs = [cost for way in ways if (cost := self.cost(model, way)) is not None]
        return max(costs, default=None)

    def source(self, model: str) -> str | None:
        """Returns the source of a model's price and its date; None without a price."""
        rate = self._rate(model)
        if rate:
            return rate.source + (f", as of {rate.as_of}" if rate.as_of else "")
        known = _published(model, {"input": 1, "output": 1}) is not None
        return f"genai-prices {metadata.version('genai-prices')}" if known else None

    def _rate(self, model: str) -> Rate | None:
        return next((rate for rate in self.rates if fnmatchcase(model, rate.model)), None)


def _published(model: str, usage: Mapping[str, int]) -> float | None:
    provider, _, name = model.partition(":")
    if provider not in PROVIDERS or "@" in name:
        return None
    try:
        from genai_prices import Usage, calc_price
    except ImportError:
        return None
    used = Usage(
        input_tokens=usage["input"],
        output_tokens=usage["output"],
        cache_read_tokens=usage.get("cached"),
        cache_write_tokens=usage.get("cache_written"),
    )
    try:
        total = float(calc_price(used, name, provider_id=provider).total_price)
    except (LookupError, ValueError):
        return None
    # A model listed without any rate is free under conditions that the list does not state.
    return total if total > 0 or not any(usage.values()) else None


def most_tokens(request: Request) -> int:
    """Returns an upper bound of a request's tokens: no tokeniser makes several tokens of one byte."""
    schema = json.dumps(request.schema) if request.schema else ""
    return len((request.prompt + schema).encode("utf-8", "surrogatepass")) + _FRAME_TOKENS


def load_prices(environment: Mapping[str, str] = os.environ) -> Prices:
    """Loads the user's prices from $WARPWRIGHT_PRICES, else from ~/.config/warpwright/prices.toml if it exists."""
    named = environment.get(VARIABLE)
    file = Path(named).expanduser() if named else _default_file(environment)
    if not named and not file.exists():
        return Prices()
    try:
        data = tomllib.loads(file.read_text(encoding="utf-8"))
    except (OSError, UnicodeDecodeError, tomllib.TOMLDecodeError) as error:
        raise UsageError(f"the prices in {file} cannot be read: {error}") from None
    return Prices(rates=_rates(file, data))


def _default_file(environment: Mapping[str, str]) -> Path:
    base = environment.get("XDG_CONFIG_HOME")
    return (Path(base) if base else Path.home() / ".config") / "warpwright" / "prices.toml"


def _rates(file: Path, data: Mapping[str, Any]) -> tuple[Rate, ...]:
    if data.keys() - {"price"} or not isinstance(data.get("price", []), list):
        raise UsageError(f"the prices in {file} are not written as [[price]] tables")
    try:
        return tuple(
            decode(Rate, _plain(entry), f"price {number}")
            for number, entry in enumerate(data.get("price", []), start=1)
        )
    except CodecError as error:
        raise UsageError(f"the prices in {file} cannot be used: {error}") from None


def _plain(entry: Any) -> Any:
    if not isinstance(entry, dict):
        return entry
    return {key: value.isoformat() if isinstance(value, datetime.date) else value for key, value in entry.items()}
