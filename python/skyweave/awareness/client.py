"""Asking a publisher, from Python. What is late, wrong or not there is no hint, and no error."""

from __future__ import annotations

import json
import socket
import time
from collections.abc import Collection, Iterator
from pathlib import Path
from typing import Any

from pydantic import ValidationError

from skyweave.awareness.publisher import LEVELS, Level
from skyweave.forecast import ForecastFile

MOST_BYTES = 16 * 2**20
"""The longest answer that is read."""
MOST_EVENT_BYTES = 2**20


class Awareness:
    """A publisher, seen by a consumer; nothing is opened before something is asked."""

    def __init__(self, name: Path, timeout_s: float = 0.2) -> None:
        self.name = name
        self.timeout_s = timeout_s

    def forecasts(self, now_unix_s: float | None = None) -> dict[str, ForecastFile]:
        """Return what is known ahead of each path, of forecasts that have not ended.

        Empty without a publisher, without an answer in time, and for one that makes no sense.
        """
        now = time.time() if now_unix_s is None else now_unix_s
        found = {}
        for path, facts in self._known().items():
            forecast = forecast_of(facts)
            if forecast is not None and forecast.start_unix_s <= now < forecast.end_unix_s:
                found[path] = forecast
        return found

    def events(self, levels: Collection[Level] = LEVELS) -> Iterator[tuple[str, dict[str, Any]]]:
        """Yield levels and events while they come; ends when the publisher does.

        ``("lost", {"rows": n})`` stands where this reader was too slow.
        """
        data: list[str] = []
        level = ""
        for line in self._lines(f"/events?levels={','.join(levels)}"):
            if line.startswith("event: "):
                level = line[7:]
            elif line.startswith("data: "):
                data.append(line[6:])
            elif not line and data:
                try:
                    facts = json.loads("\n".join(data))
                except (ValueError, RecursionError):
                    facts = None
                if isinstance(facts, dict):
                    yield level, facts
                data = []

    def _known(self) -> dict[str, Any]:
        try:
            with self._asked("/forecast") as end:
                said = b""
                until = time.monotonic() + self.timeout_s
                while (more := end.recv(65_536)) and len(said) <= MOST_BYTES:
                    said += more
                    end.settimeout(max(until - time.monotonic(), 1e-3))
            head, _, body = said.partition(b"\r\n\r\n")
            facts = json.loads(body)["forecasts"] if b" 200 " in head[:20] else {}
        except (OSError, ValueError, KeyError, TypeError, RecursionError):
            return {}
        return facts if isinstance(facts, dict) else {}

    def _asked(self, path: str) -> socket.socket:
        end = socket.socket(socket.AF_UNIX)
        try:
            end.settimeout(self.timeout_s)
            end.connect(str(self.name))
            end.sendall(f"GET {path} HTTP/1.1\r\nHost: skyweave\r\n\r\n".encode())
        except OSError:
            end.close()
            raise
        return end

    def _lines(self, path: str) -> Iterator[str]:
        """Yield the lines of an answer, its head among them; nothing without a publisher."""
        try:
            end = self._asked(path)
        except OSError:
            return
        with end:
            end.settimeout(None)
            unread = b""
            while len(unread) <= MOST_EVENT_BYTES:
                try:
                    more = end.recv(65_536)
                except OSError:
                    return
                if not more:
                    return
                *lines, unread = (unread + more).split(b"\n")
                for line in lines:
                    yield line.decode(errors="replace").rstrip("\r")


def forecast_of(facts: object) -> ForecastFile | None:
    """Return a forecast, or nothing for what is none."""
    try:
        return ForecastFile.model_validate(facts)
    except (ValidationError, RecursionError):
        return None
