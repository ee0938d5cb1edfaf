"""Adaptive films: six qualities of test pictures in DASH, made by ffmpeg and kept as films are."""

from __future__ import annotations

import json
import tempfile
from dataclasses import dataclass
from pathlib import Path

from skyweave.errors import ConfigError
from skyweave.video.ffmpeg import cache_folder, digest_of, kept_in, run

QUALITIES = 6
RATIO = 1.5
"""Between the bitrates of neighbouring qualities."""
CHUNK_S = 4
_TOP_MBPS = (0.2, 50.0)
_FILM_S = (CHUNK_S, 3600)
_PICTURES = "-f lavfi -i testsrc2=s=320x180:r=30:d={film_s},format=yuv420p"
_ENCODER = (
    "-c:v libx264 -profile:v high -preset ultrafast -threads 1 "
    "-x264-params nal-hrd=cbr:keyint=60:min-keyint=60:scenecut=0:bframes=2:b-pyramid=none"
)
_DASH = (
    f"-t {{film_s}} -fflags +bitexact -flags:v +bitexact -f dash -seg_duration {CHUNK_S} "
    "-use_template 1 -use_timeline 0 -adaptation_sets id=0,streams=v"
)


@dataclass(frozen=True)
class DashLadder:
    """An adaptive film on this machine."""

    manifest: Path
    """The MPD; its chunks lie beside it."""
    ladder_mbps: list[float]
    """Nominal bitrates, rising: what a workload ``adaptive`` names."""
    chunk_bytes: list[list[int]]
    """Size of each chunk of each quality."""
    sizes: Path
    """The same in a file (JSON)."""


def rates_kbps(top_mbps: float) -> list[int]:
    """Return the nominal bitrates of the qualities, rising to ``top_mbps``.

    >>> rates_kbps(4.3)
    [566, 849, 1274, 1911, 2867, 4300]
    """
    return [round(1000 * top_mbps / RATIO**n) for n in reversed(range(QUALITIES))]


def name_of(top_mbps: float, film_s: int) -> str:
    """Return the name of an adaptive film's manifest below the folder that keeps films."""
    check_ladder(top_mbps, film_s)
    return f"ladder-{digest_of(_command(rates_kbps(top_mbps), film_s))}/film.mpd"


def ladder(top_mbps: float = 4.3, film_s: int = 180, cache: Path | None = None) -> DashLadder:
    """Return an adaptive film, made now if this machine has none.

    Raises :class:`ConfigError` as :func:`check_ladder` does, without ffmpeg, and for what ffmpeg or
    the disk refuses.
    """
    check_ladder(top_mbps, film_s)
    rates = rates_kbps(top_mbps)
    command = _command(rates, film_s)
    folder = (cache_folder() if cache is None else cache) / f"ladder-{digest_of(command)}"
    if not (folder / "sizes.json").is_file():
        with kept_in(folder.parent):
            _make(folder, command, film_s)
    sizes = folder / "sizes.json"
    chunk_bytes = json.loads(sizes.read_text(encoding="ascii"))
    return DashLadder(folder / "film.mpd", [rate / 1000 for rate in rates], chunk_bytes, sizes)


def check_ladder(top_mbps: float, film_s: int) -> None:
    """Raise :class:`ConfigError` for a bitrate or a length of no film."""
    for name, value, (least, most) in (("top", top_mbps, _TOP_MBPS), ("length", film_s, _FILM_S)):
        if not least <= value <= most:
            raise ConfigError(
                f"the {name} of a ladder, {value:g}, is not within {least:g} and {most:g}"
            )
    if film_s % CHUNK_S:
        raise ConfigError(f"the length of a ladder, {film_s} s, is not a multiple of {CHUNK_S} s")


def _command(rates: list[int], film_s: int) -> str:
    maps = " ".join(["-map 0:v"] * len(rates))
    each = " ".join(
        f"-b:v:{n} {rate}k -minrate:v:{n} {rate}k -maxrate:v:{n} {rate}k -bufsize:v:{n} {rate}k"
        for n, rate in enumerate(rates)
    )
    text = f"-nostdin -loglevel error {_PICTURES} {maps} {_ENCODER} {each} {_DASH}"
    return text.format(film_s=film_s)


def _make(folder: Path, command: str, film_s: int) -> None:
    """Make a ladder beside its name; it has this when it is whole."""
    with tempfile.TemporaryDirectory(dir=folder.parent) as place:
        draft = Path(place) / "ladder"
        draft.mkdir()
        run("ffmpeg", command, draft / "film.mpd")
        chunks = range(1, film_s // CHUNK_S + 1)
        sizes = [
            [(draft / f"chunk-stream{quality}-{n:05}.m4s").stat().st_size for n in chunks]
            for quality in range(QUALITIES)
        ]
        (draft / "sizes.json").write_text(json.dumps(sizes), encoding="ascii")
        draft.replace(folder)
