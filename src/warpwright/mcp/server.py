"""The server: which tools and resources there are."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from pathlib import Path

from mcp.server.mcpserver import MCPServer

from warpwright import __version__
from warpwright.mcp import kernels
from warpwright.mcp.answers import in_sentences
from warpwright.mcp.searches import Searches

KERNELS = (kernels.tasks, kernels.task, kernels.check, kernels.bench, kernels.compose)
SKILL = Path(__file__).with_name("SKILL.md")


def server(archive: str | None = None) -> MCPServer:
    """A server whose searches are recorded in an archive; searches that still run end with it."""
    searches = Searches(archive)

    @asynccontextmanager
    async def lifespan(_: MCPServer) -> AsyncIterator[None]:
        try:
            yield
        finally:
            searches.close()

    made = MCPServer("warpwright", version=__version__, instructions=SKILL.read_text("utf-8"), lifespan=lifespan)
    for tool in (*KERNELS, searches.optimize, searches.watch, searches.stop, searches.resume, searches.history):
        made.tool()(in_sentences(tool))
    made.tool(name="runs")(in_sentences(searches.list_runs))
    made.resource("warpwright://runs/{run}/report", mime_type="text/html")(searches.page)
    made.resource("warpwright://kernels/{candidate}", mime_type="text/plain")(searches.source)
    return made


def tools_of(served: MCPServer) -> list[dict[str, object]]:
    """The tools of a server, as it describes them to its clients."""
    found = asyncio.run(served.list_tools())
    return [{"name": tool.name, "description": tool.description, "input": tool.input_schema} for tool in found]
