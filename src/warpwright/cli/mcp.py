"""`warpwright mcp`: tools for agents."""

from __future__ import annotations

from importlib.util import find_spec
from typing import Annotated

import typer

from warpwright.cli.output import Json, emit
from warpwright.core.errors import UsageError


def mcp(
    archive: Annotated[
        str | None, typer.Option("--archive", metavar="PLACE", help="The archive of the searches.")
    ] = None,
    skill: Annotated[bool, typer.Option("--skill", help="Print instructions for an agent, and end.")] = False,
    as_json: Json = False,
) -> None:
    """Serve tools for agents.

    Agents check, time, compose and search for kernels with the same sealed judge as people do. The server speaks the
    Model Context Protocol on standard input and output. With --json it prints its tools and ends.
    """
    if find_spec("mcp") is None:
        raise UsageError("the tools for agents need the SDK of the protocol: pip install 'warpwright[mcp]'")
    from warpwright.mcp.server import SKILL, server, tools_of

    if as_json:
        emit("mcp/1", tools=tools_of(server(archive)))
    elif skill:
        typer.echo(SKILL.read_text(encoding="utf-8"), nl=False)
    else:
        server(archive).run()
