"""Messages between a worker and its callers: one request with open files, then bytes for signals, then an exit code."""

from __future__ import annotations

import json
import os
import socket
import struct
from collections.abc import Sequence
from dataclasses import asdict, dataclass

_LENGTH = struct.Struct("!I")
_CREDENTIALS = struct.Struct("3i")
_MOST_BYTES = 1 << 22


@dataclass(frozen=True, slots=True, kw_only=True)
class Request:
    """A function to run, and the process that it is to look like."""

    function: str
    """`warpwright.module:name`, without parameters."""
    arguments: tuple[str, ...]
    """sys.argv."""
    folder: str
    environment: dict[str, str]
    umask: int
    niceness: int
    limits: dict[str, tuple[int, int]]
    """Soft and hard resource limits by the number of the resource."""


def send(channel: socket.socket, request: Request, files: Sequence[int]) -> None:
    """Sends a request with the caller's stdin, stdout and stderr."""
    text = json.dumps(asdict(request)).encode()
    socket.send_fds(channel, [_LENGTH.pack(len(text))], list(files))
    channel.sendall(text)


def receive(channel: socket.socket) -> tuple[Request, list[int]]:
    """Receives a request and its files; ConnectionError if the caller is another user or breaks off."""
    _, uid, _ = _CREDENTIALS.unpack(channel.getsockopt(socket.SOL_SOCKET, socket.SO_PEERCRED, _CREDENTIALS.size))
    if uid != os.getuid():
        raise ConnectionError("the caller is another user")
    head, files, _, _ = socket.recv_fds(channel, _LENGTH.size, 3)
    if len(head) != _LENGTH.size or len(files) != 3 or _LENGTH.unpack(head)[0] > _MOST_BYTES:
        raise ConnectionError("no request")
    return _request(_exactly(channel, _LENGTH.unpack(head)[0])), files


def _request(text: bytes) -> Request:
    data = json.loads(text)
    limits = {name: (soft, hard) for name, (soft, hard) in data.pop("limits").items()}
    return Request(**{**data, "arguments": tuple(data["arguments"])}, limits=limits)


def _exactly(channel: socket.socket, count: int) -> bytes:
    found = b""
    while len(found) < count:
        piece = channel.recv(count - len(found))
        if not piece:
            raise ConnectionError("the caller broke off")
        found += piece
    return found
