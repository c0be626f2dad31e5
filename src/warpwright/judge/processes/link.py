"""Messages between processes: JSON over a pipe, with a deadline. Nothing is ever unpickled.

A command is an object with a "do" key, which names a method of the server, and the method's arguments; the answer has
"ok", and what the method returned or what went wrong, as the server tells it.
"""

from __future__ import annotations

import json
import sys
from collections.abc import Callable
from multiprocessing.connection import Connection
from typing import Any, Protocol

MEMORY_TAKEN = "gpu memory taken"
"""The kind of an error that says nothing of the candidate: others left it no memory."""


class Silence(Exception):
    """No answer: the other side is gone, or did not answer in time."""

    def __init__(self, *, hung: bool) -> None:
        self.hung = hung
        super().__init__("no answer in time" if hung else "the other side is gone")


class Server(Protocol):
    """Has a method for every command."""

    def describe_error(self, error: Exception) -> dict[str, Any]:
        """What an exception means, as plain data."""
        ...


def send(connection: Connection, message: dict[str, Any]) -> None:
    try:
        connection.send_bytes(json.dumps(message).encode())
    except (OSError, ValueError):
        raise Silence(hung=False) from None


def receive(connection: Connection, timeout_s: float | None = None) -> dict[str, Any]:
    """The next message. What is not a JSON object counts as silence: the sender is broken."""
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
    """Obeys commands until the judge hangs up."""
    try:
        server = make()
        while True:
            message = receive(connection)
            action: Callable[..., dict[str, Any]] = getattr(server, message.pop("do"))
            try:
                answer = {"ok": True, **action(**message)}
            except Exception as error:  # whose fault it is, the judge decides
                answer = {"ok": False, **server.describe_error(error)}
            send(connection, answer)
    except Silence:
        sys.exit(0)
