"""Results and errors as a client sees them: plain data, and one sentence for what went wrong."""

from __future__ import annotations

import asyncio
import functools
import inspect
from collections.abc import Callable
from functools import partial
from typing import Any, TypeVar

from mcp.server.mcpserver import Context
from mcp.server.mcpserver.exceptions import ToolError

from warpwright.app.progress import Update
from warpwright.core.codec import encode
from warpwright.core.errors import OurFault, Undecided, WarpwrightError

Result = TypeVar("Result")
Tool = TypeVar("Tool", bound=Callable[..., Any])
Document = dict[str, Any]
_OURS = "our fault, which says nothing about the kernel"


async def answered(context: Context, work: Callable[..., Result], *args: Any, **kwargs: Any) -> Result:
    """Runs blocking work in a thread, which reports progress to the client."""
    report = _reporter(context, asyncio.get_running_loop())
    return await asyncio.to_thread(partial(work, *args, on_progress=report, **kwargs))


def in_sentences(tool: Tool) -> Tool:
    """The same tool, whose errors are one sentence that says whose they are: a fault of ours is no verdict."""

    @functools.wraps(tool)
    async def told(*args: Any, **kwargs: Any) -> Any:
        try:
            found = tool(*args, **kwargs)
            return await found if inspect.isawaitable(found) else found
        except Undecided as error:
            raise ToolError(f"undecided: {error}") from None
        except OurFault as fault:
            raise ToolError(f"our fault, which says nothing about the kernel: {fault}") from None
        except WarpwrightError as error:
            raise ToolError(str(error)) from None
        except Exception as error:
            raise ToolError(
                f"our fault, which says nothing about the kernel: {type(error).__name__}: {error}"
            ) from error

    return told  # type: ignore[return-value]


def plain(value: object) -> Document:
    """A result as data that JSON can hold."""
    found = encode(value)
    assert isinstance(found, dict)
    return found


def _reporter(context: Context, loop: asyncio.AbstractEventLoop) -> Callable[[Update], None]:
    def report(update: Update) -> None:
        sending = context.report_progress(update.done or 0, update.total, update.label)
        asyncio.run_coroutine_threadsafe(sending, loop)

    return report
