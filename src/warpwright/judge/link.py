"""Messages between processes: JSON over a pipe, with a deadline. Nothing is ever unpickled."""

from __future__ import annotations

import json
from multiprocessing.connection import Connection
from typing import Any


class Silence(Exception):
    """No answer: the other side is gone, or did not answer in time."""

    def __init__(self, *, hung: bool) -> None:
        self.hung = hung
        super().__init__("no answer in time" if hung else "the other side is gone")


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
