"""`warpwright prices`: the known prices of models."""

from __future__ import annotations

from typing import Annotated

import typer

from warpwright.cli.output import Json, emit

SAMPLE = 1_000
"""The number of tokens priced: small, because long prompts may cost more per token."""
MILLION = 1_000_000


def prices(
    models: Annotated[list[str], typer.Argument(metavar="SPEC", help="anthropic:NAME, openai:NAME@URL ...")],
    as_json: Json = False,
) -> None:
    """Show the known prices of models.

    Dollars per million tokens with their source. An unknown price is shown as unknown.
    """
    from warpwright.models.spec import parse
    from warpwright.models.spending.prices import load_prices

    known = load_prices()
    rows = []
    for name in models:
        spec = str(parse(name))
        read, written = ({"input": SAMPLE, "output": 0}, {"input": 0, "output": SAMPLE})
        rows.append(
            (spec, _per_million(known.cost(spec, read)), _per_million(known.cost(spec, written)), known.source(spec))
        )
    if as_json:
        names = ("model", "input_usd_per_million", "output_usd_per_million", "source")
        emit("prices/1", prices=[dict(zip(names, row, strict=True)) for row in rows])
        return
    from warpwright.cli.screen import plain, show_table

    def dollars(value: float | None) -> str:
        return "unknown" if value is None else f"{value:.2f}"

    shown = [(plain(spec), dollars(one), dollars(two), plain(source or "")) for spec, one, two, source in rows]
    show_table(("model", "input, $ per million", "output, $ per million", "source"), shown)


def _per_million(cost: float | None) -> float | None:
    return None if cost is None else cost * MILLION / SAMPLE
