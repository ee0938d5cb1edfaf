"""Our side of the conversation with a server: known from each uplink, told on one."""

from __future__ import annotations

import secrets
import socket
import time
from collections.abc import Mapping, Sequence
from typing import Any, TypeVar

from pydantic import BaseModel, ValidationError

from skyweave.errors import ConfigError
from skyweave.field.errors import FieldError
from skyweave.field.far import FarEnd
from skyweave.field.knock import knock
from skyweave.field.line import Line
from skyweave.field.uplinks import Uplink
from skyweave.field.words import (
    MOST_ANSWER_BYTES,
    FarFlow,
    FarSeen,
    Go,
    Gone,
    Hello,
    Known,
    Listen,
    Listening,
)

ANSWER_S = 20.0
GRACE_S = 30.0
"""How long after its end the answer of a run may take."""
_ASKED = 8
"""Times that the clock is asked; the quickest answer counts."""
_MOST_WORD = 10_000
Shape = TypeVar("Shape", bound=BaseModel)


class Talk:
    """A conversation about one run; use as a context manager."""

    def __init__(self, far: FarEnd, uplinks: Mapping[str, Uplink]) -> None:
        """Knock and say hello from each uplink; :class:`FieldError` if the server is not there."""
        self._far, self._uplinks = far, list(uplinks.values())
        self.known: dict[str, Known] = {}
        self.gate: dict[str, Any] = {}
        self._line: Line | None = None
        self._run = secrets.token_hex(16)
        self.offset_ns = 0
        self.error_ns = 0
        try:
            for one in self._uplinks:
                if far.gate is not None:
                    self.gate = knock(far.address, far.gate, far.token, one.device, one.address)
                line, self.known[one.name] = self._hello(one)
                if self._line is None:
                    self._line = line
                else:
                    line.close()
            self._set_clock()
        except BaseException:
            self.close()
            raise

    def __enter__(self) -> Talk:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    def close(self) -> None:
        """Hang up."""
        if self._line is not None:
            self._line.close()

    def listen(self, flows: Sequence[FarFlow]) -> Listening:
        """Let the server wait for connections; return where."""
        said = self._ask(Listen(flows=tuple(flows)), ANSWER_S, _MOST_WORD)
        found = self._read(Listening, said)
        if len(found.ports) != len(flows):
            raise FieldError(f"server {self._far.address} does not listen for all connections")
        return found

    def begin(self, epoch_ns: int, interval_ns: int) -> None:
        """Let the server begin at a moment of our clock."""
        go = Go(run=self._run, epoch_ns=epoch_ns + self.offset_ns, interval_ns=interval_ns)
        self._send(go.model_dump(mode="json"))

    def answer(self, seconds: float) -> tuple[FarSeen, ...]:
        """Return what the server saw, in its own words; wait for it until a while after the end.

        A conversation that broke meanwhile is taken up again from any uplink. Raises
        :class:`FieldError` if it cannot be.
        """
        end = time.monotonic() + seconds + GRACE_S
        try:
            said = self._receive(max(end - time.monotonic(), 1.0), MOST_ANSWER_BYTES)
        except (OSError, FieldError):
            said = self._collected(end)
        return self._read(Gone, said).transfers

    def _collected(self, end: float) -> dict[str, Any]:
        """Ask for the answer anew, from one uplink after the other."""
        why = "it is gone"
        while time.monotonic() < end + GRACE_S:
            for one in self._uplinks:
                try:
                    self.close()
                    self._line, _ = self._hello(one)
                    word = {"do": "collect", "run": self._run}
                    self._send(word)
                    if said := self._receive(ANSWER_S, MOST_ANSWER_BYTES):
                        return said
                except (OSError, FieldError) as error:
                    why = str(error)
            if time.monotonic() > end:
                break
            time.sleep(1.0)  # it carries on until the end of the run
        raise FieldError(
            f"server {self._far.address} did not say what it saw of a run ({why[:200]}); "
            "nothing of this run is kept"
        )

    def _hello(self, one: Uplink) -> tuple[Line, Known]:
        place = (self._far.address, self._far.port)
        end = socket.socket(socket.AF_INET, socket.SOCK_STREAM)
        try:
            end.settimeout(ANSWER_S)
            end.setsockopt(socket.SOL_SOCKET, socket.SO_BINDTODEVICE, one.device.encode())
            end.bind((one.address, 0))
            end.connect(place)
            line = Line(end)
            line.send(Hello(token=self._far.token).model_dump(mode="json"), ANSWER_S)
            said = line.receive(ANSWER_S, _MOST_WORD)
        except (OSError, FieldError) as error:
            end.close()
            why = getattr(error, "strerror", None) or str(error)
            raise FieldError(
                f"{place[0]}:{place[1]} does not answer by '{one.device}' ({why[:200]}); check "
                "that 'skyweave measure field' runs there, its port, and SKYWEAVE_TOKEN"
            ) from None
        return line, self._read(Known, said)

    def _set_clock(self) -> None:
        """Find how far the server's clock is ahead of ours; half of a round trip is not known."""
        best: tuple[int, int] | None = None
        for _ in range(_ASKED):
            sent = time.monotonic_ns()
            there = self._ask({"do": "clock"}, ANSWER_S, _MOST_WORD).get("now_ns")
            back = time.monotonic_ns()
            if not isinstance(there, int) or not 0 <= there < 2**62:
                raise FieldError(f"server {self._far.address} does not say what time it is")
            trip = back - sent
            if best is None or trip < best[0]:
                best = trip, there - (sent + back) // 2
        assert best is not None
        self.offset_ns, self.error_ns = best[1], best[0] // 2

    def _ask(self, word: BaseModel | dict[str, Any], seconds: float, most: int) -> dict[str, Any]:
        message = word if isinstance(word, dict) else word.model_dump(mode="json")
        try:
            self._send(message)
            return self._receive(seconds, most)
        except OSError as error:
            raise FieldError(
                f"server {self._far.address} fell silent ({error.strerror or error})"
            ) from None

    def _send(self, message: dict[str, Any]) -> None:
        assert self._line is not None
        self._line.send(message, ANSWER_S)

    def _receive(self, seconds: float, most: int) -> dict[str, Any]:
        assert self._line is not None
        said = self._line.receive(seconds, most)
        if isinstance(said.get("error"), str):
            raise RefusedError(f"server {self._far.address}: {said['error'][:500]}")
        return said

    def _read(self, shape: type[Shape], said: dict[str, Any]) -> Shape:
        try:
            return shape.model_validate(said)
        except ValidationError as error:
            first = error.errors()[0]
            where = ".".join(str(one) for one in first["loc"])[:100]
            raise FieldError(
                f"server {self._far.address} says what no server of ours does "
                f"({where}: {first['msg'][:200]})"
            ) from None


class RefusedError(ConfigError):
    """The server refuses the run."""
