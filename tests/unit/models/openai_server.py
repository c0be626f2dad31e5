"""A server on loopback that speaks OpenAI's chat completions and behaves as it is told, one behaviour for each request.

    with OpenAIServer() as server:
        server.rate_limited(retry_after="3").ok("hello")
        model = model_named(server.spec("some-model"), folder=Path())

After the last behaviour `always` counts: a text, or a function from the request's body to one. What was asked is in
`requests`. `raw` and `events` send anything, and so let it stand in for the servers of other providers.
"""

from __future__ import annotations

import json
import socket
import threading
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any, Self

USAGE = {
    "prompt_tokens": 12,
    "completion_tokens": 5,
    "total_tokens": 17,
    "prompt_tokens_details": {"cached_tokens": 3},
    "completion_tokens_details": {"reasoning_tokens": 2},
}
Answer = str | Callable[[dict[str, Any]], str]
Behaviour = Callable[["_Handler", dict[str, Any]], None]


@dataclass(frozen=True, slots=True, kw_only=True)
class Asked:
    """One request as it arrived; the names of headers in lower case."""

    path: str
    headers: dict[str, str]
    body: dict[str, Any]


class OpenAIServer:
    def __init__(self, always: Answer = "hello") -> None:
        self.requests: list[Asked] = []
        self.at_once = 0
        """The largest number of requests open at one time."""
        self._always, self._script, self._open = always, [], 0
        self._lock, self._closing = threading.Lock(), threading.Event()
        self._server = _Server(("127.0.0.1", 0), _Handler)
        self._server.owner = self
        self._thread = threading.Thread(target=self._server.serve_forever, kwargs={"poll_interval": 0.01})

    def __enter__(self) -> Self:
        self._thread.start()
        return self

    def __exit__(self, *_: object) -> None:
        self._closing.set()
        self._server.shutdown()
        self._server.server_close()
        self._thread.join()

    @property
    def address(self) -> str:
        return f"http://127.0.0.1:{self._server.server_port}"

    @property
    def url(self) -> str:
        return f"{self.address}/v1"

    def spec(self, model: str = "test-model") -> str:
        return f"openai:{model}@{self.url}"

    def ok(self, text: Answer = "hello", **message: Any) -> Self:
        """Answers in the requested manner: in one piece or streamed."""
        return self._then(lambda handler, body: handler.answer(_said(text, body), "stop", body, message))

    def streamed(self, text: Answer = "hello") -> Self:
        """A server that only streams."""

        def behave(handler: _Handler, body: dict[str, Any]) -> None:
            if not body.get("stream"):
                handler.error(400, "this server only streams")
            else:
                handler.answer(_said(text, body), "stop", body, {})

        return self._then(behave)

    def broken_stream(self, text: str = "hel") -> Self:
        """A stream that ends without its last event, as when a proxy closes it."""
        return self.events([_chunk({"content": text})], done=False)

    def length(self, text: str = "hel") -> Self:
        return self._then(lambda handler, body: handler.answer(text, "length", body, {}))

    def refusal(self, words: str = "I will not.") -> Self:
        return self._then(lambda handler, body: handler.answer(None, "stop", body, {"refusal": words}))

    def filtered(self) -> Self:
        return self._then(lambda handler, body: handler.answer(None, "content_filter", body, {}))

    def rate_limited(self, retry_after: str | None = None) -> Self:
        headers = {} if retry_after is None else {"Retry-After": retry_after}
        return self.failing(429, "slow down", headers=headers)

    def wrong_key(self) -> Self:
        return self.failing(401, "no such key", code="invalid_api_key")

    def unknown_model(self) -> Self:
        return self.failing(404, "no such model", code="model_not_found")

    def failing(
        self, status: int = 500, message: str = "out of order", code: str | None = None, headers: Any = None
    ) -> Self:
        return self._then(lambda handler, body: handler.error(status, message, code, headers))

    def truncated_json(self) -> Self:
        return self.raw(b'{"id": "c1", "choi')

    def closed(self) -> Self:
        """Closes the connection before any data."""
        return self._then(lambda handler, body: handler.hang_up())

    def cut_off(self) -> Self:
        """Closes the connection in the middle of a body of known length."""
        return self._then(lambda handler, body: handler.half())

    def slow(self) -> Self:
        """Gives no answer until the server closes."""
        return self._then(lambda handler, body: handler.dawdle(self._closing))

    def dribbling(self) -> Self:
        """A stream that never pauses and never ends."""
        return self._then(lambda handler, body: handler.dribble(self._closing))

    def raw(self, body: Any, status: int = 200, headers: Any = None) -> Self:
        return self._then(lambda handler, _: handler.send(status, body, headers))

    def events(self, events: Sequence[Any], *, done: bool = True) -> Self:
        return self._then(lambda handler, _: handler.stream(events, done=done))

    def _then(self, behaviour: Behaviour) -> Self:
        self._script.append(behaviour)
        return self

    def serve(self, handler: _Handler, asked: Asked) -> None:
        with self._lock:
            self.requests.append(asked)
            behaviour = self._script.pop(0) if self._script else None
            self._open += 1
            self.at_once = max(self.at_once, self._open)
        try:
            if behaviour is None:
                handler.answer(_said(self._always, asked.body), "stop", asked.body, {})
            else:
                behaviour(handler, asked.body)
        finally:
            with self._lock:
                self._open -= 1


class _Server(ThreadingHTTPServer):
    daemon_threads = True
    request_queue_size = 64
    owner: OpenAIServer

    def handle_error(self, request: Any, client_address: Any) -> None:
        """Ignores clients that disconnect, which is part of some tests."""


class _Handler(BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"
    server: _Server

    def log_message(self, *_: Any) -> None:
        """Logs nothing: tests inspect received requests instead."""

    def do_POST(self) -> None:
        body = json.loads(self.rfile.read(int(self.headers.get("content-length", 0))) or b"{}")
        headers = {name.lower(): value for name, value in self.headers.items()}
        self.server.owner.serve(self, Asked(path=self.path, headers=headers, body=body))

    def answer(self, text: str | None, finish: str, body: dict[str, Any], message: dict[str, Any]) -> None:
        if body.get("stream"):
            pieces = [text[: len(text) // 2], text[len(text) // 2 :]] if text else []
            deltas = [{"role": "assistant", **message}, *({"content": piece} for piece in pieces)]
            counted = {**_chunk({}), "choices": [], "usage": USAGE}
            self.stream([*map(_chunk, deltas), _chunk({}, finish), counted])
            return
        said = {"role": "assistant", "content": text, **message}
        choice = {"index": 0, "finish_reason": finish, "message": said}
        self.send(200, {**_envelope("chat.completion"), "choices": [choice], "usage": USAGE})

    def error(self, status: int, message: str, code: str | None = None, headers: Any = None) -> None:
        self.send(status, {"error": {"message": message, "code": code}}, headers)

    def send(self, status: int, body: Any, headers: Any = None) -> None:
        data = body if isinstance(body, bytes) else json.dumps(body).encode()
        self.send_response(status)
        self.send_header("Content-Type", "application/json")
        self.send_header("Content-Length", str(len(data)))
        for name, value in (headers or {}).items():
            self.send_header(name, value)
        self.end_headers()
        self.wfile.write(data)

    def stream(self, events: Sequence[Any], *, done: bool = True) -> None:
        self.send_response(200)
        self.send_header("Content-Type", "text/event-stream")
        self.send_header("Connection", "close")
        self.end_headers()
        for event in events:
            name = f"event: {event['type']}\n" if "type" in event else ""
            self.wfile.write(f"{name}data: {json.dumps(event)}\n\n".encode())
        if done:
            self.wfile.write(b"data: [DONE]\n\n")
        self.close_connection = True

    def dribble(self, closing: threading.Event) -> None:
        self.stream([], done=False)
        while not closing.wait(0.05):
            self.wfile.write(f"data: {json.dumps(_chunk({'content': 'la '}))}\n\n".encode())

    def half(self) -> None:
        self.send_response(200)
        self.send_header("Content-Type", "application/json")
        self.send_header("Content-Length", "5000")
        self.end_headers()
        self.wfile.write(b'{"id"')
        self.close_connection = True

    def hang_up(self) -> None:
        self.close_connection = True
        self.connection.shutdown(socket.SHUT_RDWR)

    def dawdle(self, closing: threading.Event) -> None:
        closing.wait(60)
        self.close_connection = True


def _said(text: Answer, body: dict[str, Any]) -> str:
    return text if isinstance(text, str) else text(body)


def _envelope(kind: str) -> dict[str, Any]:
    return {"id": "c1", "object": kind, "created": 1, "model": "test-model-1"}


def _chunk(delta: dict[str, Any], finish: str | None = None) -> dict[str, Any]:
    return {**_envelope("chat.completion.chunk"), "choices": [{"index": 0, "delta": delta, "finish_reason": finish}]}
