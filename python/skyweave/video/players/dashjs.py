"""dash.js in headless Chromium, driven by ``browser/play.mjs`` through playwright-core.

``waiting`` after the first ``playing`` is an underflow. What it drops
(``getVideoPlaybackQuality``), it drops because the processor was too slow. With
``fastSwitchEnabled`` dash.js replaces buffered chunks when the quality rises:
``refetched_bytes`` counts what it fetched a second time.
"""

from __future__ import annotations

import json
import shutil
import subprocess
import threading
from argparse import ArgumentParser
from pathlib import Path
from typing import Any

import pooch  # type: ignore[import-untyped]

from skyweave.video.players.playback import Playback
from skyweave.video.players.session import Options, Player, PlayerError, main

_INSTALL = "scripts/install-players dashjs"
_STOP_S = 10.0
_FIELDS = ("position_s", "film_s", "buffer_s", "shown", "discarded")


def modules() -> Path:
    """Return the folder with ``node_modules``, as ``scripts/install-players`` makes it."""
    return Path(pooch.os_cache("skyweave")) / "browser"


class DashJs:
    """dash.js while it plays."""

    def __init__(self, options: Options, playback: Playback) -> None:
        self._playback = playback
        self._found: dict[str, Any] = {"refetched_bytes": 0, "responses": 0, "abandoned": 0}
        self._error: str | None = None
        self._ended = False
        script = Path(__file__).parent / "browser" / "play.mjs"
        switch = "on" if options.more.fast_switch else "off"
        self._complaints = (options.out / "browser.log").open("w", encoding="utf-8")
        self._process = subprocess.Popen(
            [_program("node"), script, modules(), _program("chromium"), options.url, switch],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=self._complaints,
            text=True,
        )
        self._found["fast_switch"] = options.more.fast_switch
        self._reader = threading.Thread(target=self._read, args=(options.out,), daemon=True)
        self._reader.start()

    def _read(self, out: Path) -> None:
        assert self._process.stdout is not None
        with (out / "dashjs.jsonl").open("w", encoding="utf-8", buffering=1) as copy:
            for line in self._process.stdout:
                copy.write(line)
                self._take(json.loads(line))

    def _take(self, told: dict[str, Any]) -> None:
        event = told["event"]
        if "position_s" in told:
            self._playback.tell(**{name: told[name] for name in _FIELDS})
            self._found["refetched_bytes"] = told["refetched_bytes"]
        if event == "browser":
            self._found["browser"] = told["version"]
        elif event == "asked":
            self._found["version"] = told["version"]
            self._playback.asked()
        elif event == "playing":
            self._playback.playing()
        elif event == "waiting":
            self._playback.underflow()
        elif event == "switch":
            self._playback.switch(told["quality"])
        elif event == "ended":
            self._ended = True
        elif event == "error":
            self._error = told["reason"]
        elif event in ("response", "abandoned"):
            self._found["responses" if event == "response" else event] += 1

    def look(self) -> None:
        """Nothing to ask: the page tells by itself."""

    def has_ended(self) -> bool:
        """Whether dash.js is at the end of the film."""
        if self._error is not None:
            raise PlayerError(f"dash.js gave up: {self._error}")
        if self._process.poll() is not None and not self._ended:
            raise PlayerError(f"Chromium ended; {self._complaints.name} says why")
        return self._ended

    def stop(self) -> None:
        """End it and the browser."""
        assert self._process.stdin is not None
        self._process.stdin.close()
        try:
            self._process.wait(_STOP_S)
        except subprocess.TimeoutExpired:
            self._process.kill()
            self._process.wait()
        self._reader.join(_STOP_S)
        self._complaints.close()

    def facts(self) -> dict[str, Any]:
        """Return versions, and what was fetched again."""
        return self._found


def _program(name: str) -> str:
    found = shutil.which(name)
    if found is None:
        raise PlayerError(f"{name} is not installed; {_INSTALL} installs what dash.js needs")
    if not (modules() / "node_modules" / "dashjs").is_dir():
        raise PlayerError(f"dash.js is not installed; {_INSTALL} installs it")
    return found


def _add(parser: ArgumentParser) -> None:
    parser.add_argument(
        "--no-fast-switch",
        dest="fast_switch",
        action="store_false",
        help="do not replace buffered chunks when the quality rises (fastSwitchEnabled)",
    )


def start(options: Options, playback: Playback) -> Player:
    """Begin to play."""
    return DashJs(options, playback)


if __name__ == "__main__":
    main("dashjs", start, _add)
