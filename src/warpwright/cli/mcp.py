"""`warpwright mcp`: tools for agents."""

from __future__ import annotations

from importlib.util import find_spec
from typing import Annotated

import typer

from warpwright.core.errors import UsageError


def mcp(
    archive: Annotated[
        str | None, typer.Option("--archive", metavar="PLACE", help="The archive of the searches.")
    ] = None,
    skill: Annotated[bool, typer.Option("--skill", help="Print instructions for an agent, and end.")] = False,
) -> None:
    """Serve tools for agents on standard input and output, over the Model Context Protocol.

    Agents check, time, compose and search for kernels with the same sealed judge as people do.
    """
    if find_spec("mcp") is None:
        raise UsageError("the tools for agents need the SDK of the protocol: pip install 'warpwright[mcp]'")
    from warpwright.mcp.server import SKILL, server

    if skill:
        typer.echo(SKILL.read_text(encoding="utf-8"), nl=False)
    else:
        server(archive).run()
