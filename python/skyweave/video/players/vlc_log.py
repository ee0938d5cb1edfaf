"""What the log of VLC 3.0 tells of a play-out.

The lines are those of ``src/input/es_out.c``, ``src/input/decoder.c`` and
``src/video_output/video_output.c`` (videolan/vlc, 3.0.24), at log level 3.
"""

from __future__ import annotations

import re
import time
from collections.abc import Iterable
from dataclasses import dataclass, field
from typing import Any, TextIO

from skyweave.video.players.playback import Playback

_UNDERFLOW = "is called too late"
_DELAY = re.compile(r"pts_delay increased to (\d+) ms")
_RUNS = "Decoder wait done"
_LATE = "picture is too late to be displayed"
_REQUEST = "http debug: outgoing request"
_ERROR = re.compile(r"^\S+ error: (.*)")


@dataclass
class VlcLog:
    """Reads the log line by line while VLC writes it."""

    playback: Playback
    discarded: int = 0
    requests: int = 0
    """Requests for ranges of the file; VLC sends each on a connection of its own."""
    delays_ms: list[int] = field(default_factory=list)
    """To what each underflow raised the delay."""
    error: str | None = None
    """The last error that is no underflow."""

    def follow(self, lines: Iterable[str], copy: TextIO) -> None:
        """Read until the log ends; each line is kept with the moment (CLOCK_MONOTONIC, seconds)."""
        for line in lines:
            copy.write(f"{time.monotonic():.4f} {line}")
            self.take(line.rstrip("\n"))

    def take(self, line: str) -> None:
        """Read a line."""
        if _LATE in line:
            self.discarded += 1
            self.playback.tell(discarded=self.discarded)
        elif _UNDERFLOW in line:
            if raised := _DELAY.search(line):
                self.delays_ms.append(int(raised.group(1)))
            self.playback.underflow()
        elif _RUNS in line:
            self.playback.playing()
        elif _REQUEST in line:
            self.requests += 1
        elif found := _ERROR.match(line):
            self.error = found.group(1)

    def facts(self) -> dict[str, Any]:
        """Return what is of VLC alone."""
        return {"requests": self.requests, "delays_ms": self.delays_ms}
