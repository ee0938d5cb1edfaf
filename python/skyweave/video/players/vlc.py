"""VLC: libVLC 3.0 by python-vlc, its counters from its log.

VLC drops pictures that come late (``picture is too late to be displayed``), and when a clock
reference comes late it flushes, raises its delay and buffers anew (``called too late``): these are
``discarded`` and ``underflows``. Its stalls are counted from that line until its clock runs again.
It tells neither what is buffered nor, since it counts repetitions, how many pictures it showed.
"""

from __future__ import annotations

import os
import threading
from argparse import ArgumentParser
from typing import Any

from skyweave.video.players.playback import Playback
from skyweave.video.players.session import Options, Player, PlayerError, main
from skyweave.video.players.vlc_log import VlcLog

_LAST_LINES_S = 5.0
_SHUTDOWN_S = 10.0


class Vlc:
    """VLC while it plays."""

    def __init__(self, options: Options, playback: Playback) -> None:
        self._vlc = _library()
        self._playback = playback
        self._log = VlcLog(playback)
        self._ends = os.pipe()
        self._reader = threading.Thread(target=self._read, args=(options,), daemon=True)
        self._reader.start()
        # libVLC says that it cannot be run without this; a world has no session of a user.
        os.environ.setdefault("XDG_RUNTIME_DIR", str(options.out))
        self._instance = self._vlc.Instance(_arguments(options, self._ends[1]))
        if self._instance is None:
            raise PlayerError("VLC does not start; on Debian: apt install vlc-plugin-base")
        self._media = self._instance.media_new(options.url)
        self._player = self._instance.media_player_new()
        self._player.set_media(self._media)
        playback.tell(discarded=0)
        playback.asked()
        self._player.play()

    def _read(self, options: Options) -> None:
        with (
            os.fdopen(self._ends[0], encoding="utf-8", errors="replace") as lines,
            (options.out / "vlc.log").open("w", encoding="utf-8", buffering=1) as copy,
        ):
            self._log.follow(lines, copy)

    def look(self) -> None:
        """Tell position and length."""
        position, length = self._player.get_time(), self._player.get_length()
        if length > 0:
            self._playback.tell(film_s=length / 1000)
        if position >= 0:
            self._playback.tell(position_s=position / 1000)

    def has_ended(self) -> bool:
        """Whether VLC is at the end of the film."""
        state = self._player.get_state()
        nothing = state == self._vlc.State.Ended and self._playback.startup_s is None
        if nothing or state == self._vlc.State.Error:
            raise PlayerError(f"VLC gave up: {self._log.error or 'its log does not say why'}")
        return bool(state == self._vlc.State.Ended)

    def stop(self) -> None:
        """End it; the log is read to its last line.

        VLC can hang while it shuts down: nobody waits for it after 10 s, and it ends with the
        process.
        """
        self._lost = self._counted()
        shutdown = threading.Thread(target=self._release, daemon=True)
        shutdown.start()
        shutdown.join(_SHUTDOWN_S)
        if not shutdown.is_alive():  # or VLC would write its log to whatever gets this number next
            os.close(self._ends[1])
        self._reader.join(_LAST_LINES_S)

    def _release(self) -> None:
        self._player.stop()
        self._player.release()
        self._media.release()
        self._instance.release()

    def _counted(self) -> dict[str, int]:
        counts = self._vlc.MediaStats()
        self._media.get_stats(counts)
        return {
            "lost_pictures": counts.lost_pictures,
            "displayed_pictures": counts.displayed_pictures,
            "read_bytes": counts.read_bytes,
        }

    def facts(self) -> dict[str, Any]:
        """Return its version, its own counters, and the delay after each underflow."""
        version = self._vlc.libvlc_get_version().decode(errors="replace")
        return {"version": version, **self._lost, **self._log.facts()}


def _library() -> Any:
    try:
        import vlc
    except ImportError as error:
        raise PlayerError("python-vlc is not installed; pip install 'skyweave[video]'") from error
    except (OSError, NotImplementedError) as error:
        raise PlayerError(
            "VLC is not installed; on Debian: apt install vlc-bin vlc-plugin-base"
        ) from error
    return vlc


def _arguments(options: Options, log: int) -> list[str]:
    return [
        "--ignore-config",
        "--quiet",
        "--vout=vdummy",
        "--aout=adummy",
        "--no-spu",
        "--no-osd",
        "--no-lua",
        "--no-video-title-show",
        "--avcodec-hw=none",
        f"--avcodec-threads={options.threads}",
        f"--network-caching={options.more.network_caching}",
        "--file-logging",
        "--logmode=text",
        f"--logfile=/dev/fd/{log}",
        "--log-verbose=3",
    ]


def _add(parser: ArgumentParser) -> None:
    parser.add_argument(
        "--network-caching", type=int, default=1000, help="delay of the clock, ms (1000)"
    )


def start(options: Options, playback: Playback) -> Player:
    """Begin to play."""
    return Vlc(options, playback)


if __name__ == "__main__":
    main("vlc", start, _add)
