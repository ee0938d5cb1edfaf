"""mpv: its own process, told and asked by JSON IPC (mpv manual, "JSON IPC").

mpv waits for what is missing: ``paused-for-cache`` is an underflow. What it drops
(``frame-drop-count``) it drops because the processor was too slow.
"""

from __future__ import annotations

import json
import shutil
import socket
import subprocess
import threading
from argparse import ArgumentParser
from typing import Any

from skyweave.video.players.playback import Playback
from skyweave.video.players.session import Options, Player, PlayerError, main

_STOP_S = 5.0
_TOLD = {
    "time-pos": "position_s",
    "duration": "film_s",
    "demuxer-cache-duration": "buffer_s",
    "frame-drop-count": "discarded",
}
_WATCHED = ("paused-for-cache", "core-idle", "mpv-version", *_TOLD)


class Mpv:
    """mpv while it plays."""

    def __init__(self, options: Options, playback: Playback) -> None:
        program = shutil.which("mpv")
        if program is None:
            raise PlayerError("mpv is not installed; on Debian: apt install mpv")
        self._playback = playback
        self._values: dict[str, Any] = {}
        self._end: str | None = None
        self._socket, theirs = socket.socketpair()
        with theirs:
            self._process = subprocess.Popen(
                [program, *_arguments(options, theirs.fileno()), "--", options.url],
                stdin=subprocess.DEVNULL,
                stdout=subprocess.DEVNULL,
                stderr=subprocess.DEVNULL,
                pass_fds=[theirs.fileno()],
            )
        for number, name in enumerate(_WATCHED, 1):
            self._say("observe_property", number, name)
        self._say("request_log_messages", "error")
        playback.asked()
        self._reader = threading.Thread(target=self._read, daemon=True)
        self._reader.start()

    def _say(self, *command: object) -> None:
        self._socket.sendall(json.dumps({"command": command}).encode() + b"\n")

    def _read(self) -> None:
        with self._socket.makefile("rb") as lines:
            for line in lines:
                self._take(json.loads(line))

    def _take(self, message: dict[str, Any]) -> None:
        kind = message.get("event")
        if kind == "property-change":
            self._values[message["name"]] = message.get("data")
            self._changed(message["name"], message.get("data"))
        elif kind == "end-file":
            self._end = message.get("file_error") or message.get("reason") or "unknown"
        elif kind == "log-message":
            self._values["error"] = str(message.get("text", "")).strip()

    def _changed(self, name: str, value: Any) -> None:
        if name == "paused-for-cache" and value:
            self._playback.underflow()
        elif name == "core-idle" and value is False:
            self._playback.playing()

    def look(self) -> None:
        """Tell position, buffer and what was dropped."""
        values = self._values
        self._playback.tell(
            **{field: values[name] for name, field in _TOLD.items() if values.get(name) is not None}
        )

    def has_ended(self) -> bool:
        """Whether mpv is at the end of the film."""
        if self._end == "eof":
            return True
        if self._end is not None or self._process.poll() is not None:
            why = self._values.get("error") or self._end or f"exit code {self._process.poll()}"
            raise PlayerError(f"mpv gave up: {why}")
        return False

    def stop(self) -> None:
        """End it."""
        self._process.terminate()
        try:
            self._process.wait(_STOP_S)
        except subprocess.TimeoutExpired:
            self._process.kill()
            self._process.wait()
        self._reader.join(_STOP_S)
        self._socket.close()

    def facts(self) -> dict[str, Any]:
        """Return its version."""
        return {"version": self._values.get("mpv-version")}


def _arguments(options: Options, ipc: int) -> list[str]:
    pause_s = options.more.cache_pause_wait
    return [
        "--no-config",
        "--no-terminal",
        "--load-scripts=no",
        "--ytdl=no",
        "--idle=once",
        "--vo=null",
        "--ao=null",
        "--hwdec=no",
        f"--vd-lavc-threads={options.threads}",
        "--cache=yes",
        "--cache-pause-initial=yes",
        f"--cache-pause-wait={pause_s:g}",
        f"--input-ipc-client=fd://{ipc}",
        f"--log-file={options.out / 'mpv.log'}",
    ]


def _add(parser: ArgumentParser) -> None:
    parser.add_argument(
        "--cache-pause-wait",
        type=float,
        default=1.0,
        help="media that must be there to start and to go on, s (1)",
    )


def start(options: Options, playback: Playback) -> Player:
    """Begin to play."""
    return Mpv(options, playback)


if __name__ == "__main__":
    main("mpv", start, _add)
