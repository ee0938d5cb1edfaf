"""One play-out from the command line to its summary: what all players have in common."""

from __future__ import annotations

import argparse
import contextlib
import json
import os
import signal
import sys
import threading
import time
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from pathlib import Path
from types import FrameType
from typing import Any, Protocol
from urllib.parse import urlsplit

from skyweave.errors import ConfigError, SkyweaveError
from skyweave.printing import complain
from skyweave.video.players.load import Load
from skyweave.video.players.playback import Playback, Seen

_SAMPLE_S = 0.25
_LONGEST_S = 86_400.0
_MOST_THREADS = 64
_START_S = 60.0
"""A player may take so long before it asks for the film: a browser on a busy machine."""
_MISSING_S = 2.0
"""A player that ends further than this before the end of the film did not get all of it."""


class PlayerError(SkyweaveError):
    """A player that is not installed, or that could not play."""


@dataclass(frozen=True)
class Options:
    """What is played, and where the record goes."""

    url: str
    out: Path
    duration_s: float
    threads: int
    """Of the decoder."""
    more: argparse.Namespace
    """What only one player knows."""


class Player(Protocol):
    """A player that runs. It tells a :class:`Playback` what happens."""

    def look(self) -> None:
        """Tell where it stands; each 250 ms."""

    def has_ended(self) -> bool:
        """Whether it came to the end of the film. Raises :class:`PlayerError` if it gave up."""

    def stop(self) -> None:
        """End it; what it started is gone afterwards."""

    def facts(self) -> dict[str, Any]:
        """Return what else it says of itself, for the summary: its version first."""


Start = Callable[[Options, Playback], Player]


def main(name: str, start: Start, add: Callable[[argparse.ArgumentParser], None] | None) -> None:
    """Run a player as a program; exits with 0, or with 2 and one sentence on standard error."""
    parser = argparse.ArgumentParser(
        prog=f"python -m skyweave.video.players.{name}",
        description="Plays a film without a display; writes playback.jsonl and summary.json.",
    )
    parser.add_argument("url", help="film, or manifest of an adaptive one: http://host/path")
    parser.add_argument("--out", type=Path, required=True, help="folder of the record")
    parser.add_argument("--duration", type=float, required=True, help="seconds, at most")
    parser.add_argument("--threads", type=int, default=2, help="threads of the decoder (2)")
    if add is not None:
        add(parser)
    given = parser.parse_args()
    try:
        sys.exit(0 if play(name, start, _checked(given)) else 130)
    except SkyweaveError as error:
        complain(str(error))
        sys.exit(2)


def play(name: str, start: Start, options: Options) -> bool:
    """Play until the film ends, the time is over or a signal comes; False if it was a signal.

    Raises :class:`PlayerError` for a player that is missing or that gave up; the record is kept.
    """
    with _heeding_signals() as signalled:
        return _play(name, start, options, signalled)


def _play(name: str, start: Start, options: Options, signalled: threading.Event) -> bool:
    playback = Playback(options.out)
    load = Load(os.getpid())
    player: Player | None = None
    found: dict[str, Any] = {"over": "failed"}
    try:
        player = start(options, playback)
        found["over"] = _watch(player, playback, load, options.duration_s, signalled)
        if found["over"] == "ended":
            _check_whole(playback)
    except PlayerError as error:
        found = {"over": "failed", "reason": str(error)}
        raise
    finally:
        seen = playback.over("ended" if found["over"] == "ended" else "closed")
        load.look(0.0)
        if player is not None:
            player.stop()
            found.update(player.facts())
        _summarise(name, options, playback, {**found, "seen": seen, "processor": load.summary()})
    return str(found["over"]) != "interrupted"


def _watch(
    player: Player, playback: Playback, load: Load, duration_s: float, signalled: threading.Event
) -> str:
    began = due = time.monotonic()
    while True:
        ended = player.has_ended()
        player.look()
        playback.sample()
        if ended:
            return "ended"
        if signalled.is_set():
            return "interrupted"
        if time.monotonic() >= _counts_from(playback, began) + duration_s:
            return "duration"
        # What a slow look took is not made up for.
        due = max(due + _SAMPLE_S, time.monotonic())
        if not signalled.wait(due - time.monotonic()):
            load.look(time.monotonic() - due)


def _counts_from(playback: Playback, began: float) -> float:
    """Return from when the duration counts: the request for the film, or the longest start."""
    return began + _START_S if playback.asked_ns is None else playback.asked_ns / 1e9


def _check_whole(playback: Playback) -> None:
    seen = playback.now()
    if seen.position_s is None or seen.film_s is None:
        return
    if seen.position_s < seen.film_s - _MISSING_S:
        raise PlayerError(
            f"the player came to its end at {seen.position_s:.1f} s of a film of "
            f"{seen.film_s:.1f} s: the server stopped before all of it was sent"
        )


def _checked(given: argparse.Namespace) -> Options:
    parts = urlsplit(given.url)
    if parts.scheme not in ("http", "https") or not parts.netloc:
        raise ConfigError(f"{given.url!r} is no address of a film; it begins with http://")
    if not 0 < given.duration <= _LONGEST_S:
        raise ConfigError(f"--duration {given.duration:g} is not within 0 and {_LONGEST_S:g} s")
    if not 1 <= given.threads <= _MOST_THREADS:
        raise ConfigError(f"--threads {given.threads} is not within 1 and {_MOST_THREADS}")
    try:
        given.out.mkdir(parents=True, exist_ok=True)
    except OSError as error:
        raise ConfigError(
            f"{given.out}: no folder for the record can be made there ({error.strerror})"
        ) from error
    return Options(given.url, given.out.resolve(), given.duration, given.threads, given)


@contextlib.contextmanager
def _heeding_signals() -> Iterator[threading.Event]:
    """Let SIGINT and SIGTERM end the session in order, instead of the process."""
    signalled = threading.Event()

    def note(_number: int, _frame: FrameType | None) -> None:
        signalled.set()

    before = {number: signal.signal(number, note) for number in (signal.SIGINT, signal.SIGTERM)}
    try:
        yield signalled
    finally:
        for number, handler in before.items():
            signal.signal(number, handler)


def _summarise(name: str, options: Options, playback: Playback, found: dict[str, Any]) -> None:
    seen: Seen = found.pop("seen")
    summary = {
        "player": name,
        "url": options.url,
        "threads": options.threads,
        "duration_s": options.duration_s,
        "startup_s": playback.startup_s,
        **{key: value for key, value in vars(seen).items() if key != "state"},
        **found,
    }
    draft = options.out / "summary.json.part"
    draft.write_text(json.dumps(summary, indent=1) + "\n", encoding="utf-8")
    draft.replace(options.out / "summary.json")
