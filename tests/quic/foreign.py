"""A foreign client of HTTP/3: aioquic's."""

from __future__ import annotations

import asyncio
import ssl
from collections.abc import Sequence
from dataclasses import dataclass, field

from aioquic.asyncio.client import connect
from aioquic.asyncio.protocol import QuicConnectionProtocol
from aioquic.h3.connection import H3_ALPN, H3Connection
from aioquic.h3.events import DataReceived, HeadersReceived
from aioquic.quic.configuration import QuicConfiguration
from aioquic.quic.events import ConnectionTerminated, ProtocolNegotiated, QuicEvent, StreamReset

Fields = dict[str, str]


@dataclass
class Answer:
    """What came of one request."""

    fields: Fields = field(default_factory=dict)
    content: bytes = b""
    trailers: Fields = field(default_factory=dict)
    code: int | None = None
    over: asyncio.Event = field(default_factory=asyncio.Event)

    @property
    def status(self) -> int:
        """As 200."""
        return int(self.fields[":status"])


class Client(QuicConnectionProtocol):
    """Asks, and gathers the answers."""

    http: H3Connection | None = None

    def __init__(self, *arguments: object, **more: object) -> None:
        super().__init__(*arguments, **more)  # type: ignore[arg-type]
        self.answers: dict[int, Answer] = {}

    def quic_event_received(self, event: QuicEvent) -> None:
        """Sort what came."""
        if isinstance(event, ProtocolNegotiated):
            self.http = H3Connection(self._quic)
        if isinstance(event, StreamReset) and event.stream_id in self.answers:
            self.answers[event.stream_id].code = event.error_code
            self.answers[event.stream_id].over.set()
        if isinstance(event, ConnectionTerminated):
            for answer in self.answers.values():
                answer.over.set()
        for said in self.http.handle_event(event) if self.http else ():
            if not isinstance(said, HeadersReceived | DataReceived):
                continue
            answer = self.answers[said.stream_id]
            if isinstance(said, DataReceived):
                answer.content += said.data
            elif answer.fields:
                answer.trailers = decoded(said.headers)
            else:
                answer.fields = decoded(said.headers)
            if said.stream_ended:
                answer.over.set()

    def ask(self, method: str, path: str, fields: Fields, content: bytes = b"") -> Answer:
        """Send a request; its answer comes later."""
        assert self.http is not None
        stream = self._quic.get_next_available_stream_id()
        answer = self.answers[stream] = Answer()
        pseudo = {":method": method, ":scheme": "https", ":authority": "localhost", ":path": path}
        headers = [(name.encode(), value.encode()) for name, value in (pseudo | fields).items()]
        self.http.send_headers(stream, headers, end_stream=not content)
        if content:
            self.http.send_data(stream, content, end_stream=True)
        self.transmit()
        return answer


def decoded(headers: Sequence[tuple[bytes, bytes]]) -> Fields:
    """Return fields as text."""
    return {name.decode(): value.decode() for name, value in headers}


def ask(port: int, *requests: tuple[str, str, Fields]) -> list[Answer]:
    """Ask all that on one connection."""

    async def run() -> list[Answer]:
        configuration = QuicConfiguration(
            alpn_protocols=H3_ALPN, is_client=True, verify_mode=ssl.CERT_NONE
        )
        place = {"configuration": configuration, "create_protocol": Client}
        async with connect("127.0.0.1", port, **place) as client:  # type: ignore[arg-type]
            assert isinstance(client, Client)
            content = {"POST": b"x" * 10_000}
            answers = [client.ask(*one, content.get(one[0], b"")) for one in requests]
            for answer in answers:
                await answer.over.wait()
        return answers

    return asyncio.run(run())
