"""Films of test pictures: made by ffmpeg at first use, kept by the hash of the command.

The file of a kind is the same wherever the same ffmpeg makes it: one thread, no time stamps. No
film is in the repository; of ``cbr`` the frame table is (``crates/video/src/cbr.txt``).
"""

from __future__ import annotations

import tempfile
from dataclasses import dataclass
from pathlib import Path

from skyweave.errors import ConfigError, unknown_name
from skyweave.video.ffmpeg import cache_folder, digest_of, kept_in, run

_COMMON = (
    "-c:a aac -b:a 128k -t 180 -fflags +bitexact -flags:v +bitexact -flags:a +bitexact "
    "-movflags +faststart"
)
_SOUND = "-f lavfi -i sine=f=440:r=48000:d=180"
_PICTURES = "-f lavfi -i testsrc2=s=640x360:r=30:d=180,format=yuv420p"
_NOISE = (
    "noise=alls=10:allf=t:enable='lt(mod(t,9),3)',"
    "noise=alls=25:allf=t:enable='between(mod(t,9),3,6)'"
)
_COMMANDS: dict[str, str] = {
    # 118 MB, 5.24 Mbit/s, whatever the pictures: filler data hold the rate (VIDEO-LEO).
    "cbr": f"{_PICTURES} {_SOUND} -c:v libx264 -profile:v high -preset ultrafast "
    "-x264-params nal-hrd=cbr:keyint=60:min-keyint=30:bframes=2:b-pyramid=none -threads 1 "
    f"-b:v 5104k -minrate 5104k -maxrate 5104k -bufsize 5104k {_COMMON}",
    # About the same mean, a rate that goes up and down with the noise in the pictures.
    "vbr": f"{_PICTURES} {_SOUND} -vf {_NOISE} -c:v libx264 -profile:v high -preset superfast "
    "-x264-params keyint=60:min-keyint=30:bframes=2:b-pyramid=none -threads 1 "
    f"-b:v 5104k -maxrate 7600k -bufsize 7600k {_COMMON}",
}
_PROBE = "-loglevel error -show_entries packet=stream_index,pts_time,dts_time,pos,size -of csv=p=0"


@dataclass(frozen=True)
class Film:
    """A film on this machine."""

    kind: str
    file: Path
    frames: Path
    """Its frame table: what ``film = { file = ... }`` of a study names."""


def kinds() -> list[str]:
    """Return the kinds of films that can be made."""
    return list(_COMMANDS)


def name_of(kind: str) -> str:
    """Return the name of a film's file in the folder that keeps it."""
    if kind not in _COMMANDS:
        raise ConfigError(unknown_name("film", kind, _COMMANDS))
    return f"{kind}-{digest_of(f'{_COMMANDS[kind]} {_PROBE}')}.mp4"


def film(kind: str, cache: Path | None = None) -> Film:
    """Return a film of a kind, made now if this machine has none.

    ``cache`` is the folder that keeps it: that of this user if not given. Raises
    :class:`ConfigError` for another kind, without ffmpeg, and for what ffmpeg or the disk refuses.
    """
    name = name_of(kind)
    file = (cache_folder() if cache is None else cache) / name
    folder, found = file.parent, Film(kind, file, file.with_suffix(".csv"))
    if not (found.file.is_file() and found.frames.is_file()):
        with kept_in(folder):
            _make(found)
    return found


def _make(wanted: Film) -> None:
    """Make a film and its table beside their names; they have these when they are whole."""
    with tempfile.TemporaryDirectory(dir=wanted.file.parent) as draft:
        video, table = Path(draft) / "film.mp4", Path(draft) / "film.csv"
        run("ffmpeg", f"-nostdin -loglevel error {_COMMANDS[wanted.kind]}", video)
        table.write_text(run("ffprobe", _PROBE, video), encoding="ascii")
        table.replace(wanted.frames)
        video.replace(wanted.file)
