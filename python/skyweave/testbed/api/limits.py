"""How much of a request is read: by its path, before anything looks at it."""

from __future__ import annotations

import json
import re

from starlette.types import ASGIApp, Message, Receive, Scope, Send

from skyweave.testbed.wire.names import MOST_BODY_BYTES, MOST_INPUT_BYTES, PART_BYTES

_SIZES = (
    (re.compile(r"/agent/uploads/[^/]*"), PART_BYTES),
    (re.compile(r"/inputs/[^/]*"), MOST_INPUT_BYTES),
)


def most_bytes(path: str) -> int:
    """Return how long the body of a request to a path may be."""
    return next((size for what, size in _SIZES if what.fullmatch(path)), MOST_BODY_BYTES)


class _TooLarge(Exception):
    """More came than may."""


class BodyLimit:
    """Answers 413 to bodies that are, or say that they are, too long; the rest is not read."""

    def __init__(self, app: ASGIApp) -> None:
        self._app = app

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Serve a request."""
        if scope["type"] != "http":
            await self._app(scope, receive, send)
            return
        most, begun, read = most_bytes(scope["path"]), False, 0
        said = dict(scope["headers"]).get(b"content-length", b"0")
        if not said.isdigit() or len(said) > 15 or int(said) > most:
            await _refuse(send, most)
            return

        async def counted() -> Message:
            nonlocal read
            message = await receive()
            read += len(message.get("body", b""))
            if read > most:
                raise _TooLarge
            return message

        async def noted(message: Message) -> None:
            nonlocal begun
            begun = True
            await send(message)

        try:
            await self._app(scope, counted, noted)
        except _TooLarge:
            if not begun:
                await _refuse(send, most)


async def _refuse(send: Send, most: int) -> None:
    said = {"error": f"the body is longer than {most:,} bytes; send less", "code": "too-large"}
    body = json.dumps(said).encode()
    headers = [(b"content-type", b"application/json"), (b"connection", b"close")]
    await send({"type": "http.response.start", "status": 413, "headers": headers})
    await send({"type": "http.response.body", "body": body})
