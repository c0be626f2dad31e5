"""Messages between processes: JSON over a pipe, with a deadline. Nothing is ever unpickled.

A command is an object whose "do" key names a method of the server; its other keys are the arguments. The answer has
"ok" and either the result of the method or the server's description of the error.
"""

from __future__ import annotations

import json
import sys
from collections.abc import Callable
from multiprocessing.connection import Connection
from typing import Any, Protocol

MEMORY_TAKEN = "gpu memory taken"
"""The kind of an error that does not count against the candidate: other processes hold the memory."""


class Silence(Exception):
    """No answer: the other process has ended, or missed the deadline."""

    def __init__(self, *, hung: bool) -> None:
        self.hung = hung
        super().__init__("no answer in time" if hung else "the other side is gone")


class Server(Protocol):
    """A server has one method for each command."""

    def describe_error(self, error: Exception) -> dict[str, Any]:
        """Describes an exception as plain data."""
        ...


def send(connection: Connection, message: dict[str, Any]) -> None:
    try:
        connection.send_bytes(json.dumps(message).encode())
    except (OSError, ValueError):
        raise Silence(hung=False) from None


def receive(connection: Connection, timeout_s: float | None = None) -> dict[str, Any]:
    """Receives the next message. A message that is not a JSON object counts as silence: the sender is broken."""
    try:
        if timeout_s is not None and not connection.poll(timeout_s):
            raise Silence(hung=True)
        message = json.loads(connection.recv_bytes())
    except (OSError, EOFError, ValueError):
        raise Silence(hung=False) from None
    if not isinstance(message, dict):
        raise Silence(hung=False)
    return message


def serve(connection: Connection, make: Callable[[], Server]) -> None:
    """Executes commands until the judge closes the pipe."""
    try:
        server = make()
        while True:
            message = receive(connection)
            action: Callable[..., dict[str, Any]] = getattr(server, message.pop("do"))
            try:
                answer = {"ok": True, **action(**message)}
            except Exception as error:  # the judge decides whose fault it is
                answer = {"ok": False, **server.describe_error(error)}
            send(connection, answer)
    except Silence:
        sys.exit(0)
