"""``skyweave video play``: what a viewer would see of a film over these paths."""

from __future__ import annotations

import dataclasses
import os
import shutil
import tempfile
from pathlib import Path
from typing import Annotated, Any, Literal

import typer

from skyweave.cli.profiles import parse_path
from skyweave.cli.shell import PROFILE
from skyweave.cli.video_progress import playing
from skyweave.cli.video_seen import say, title_of
from skyweave.console import Console
from skyweave.data.writers import write_bytes
from skyweave.engine import workloads
from skyweave.engine.simulator import simulate
from skyweave.errors import ConfigError, Interrupted
from skyweave.model import config
from skyweave.model.record import Record
from skyweave.study.compile.films import frame_table

Player = Literal["reference", "wait", "adaptive", "vlc", "mpv", "dashjs"]
Transport = Literal["tcp", "mptcp", "mpquic"]
EngineName = Literal["sim", "live"]
_LONGEST_S = 86_400.0
_FILM_S = 180
"""Of the films that are made here."""
_BUFFERS = {"send_buffer_bytes": 4 * 2**20, "receive_buffer_bytes": 6 * 2**20, "autotune": True}
"""Linux's limits (tcp_wmem, tcp_rmem), and that they are grown into."""


def play(
    path: Annotated[list[str], typer.Option(metavar="NAME=PROFILE", help=PROFILE)],
    player: Annotated[
        Player,
        typer.Option(
            help="reference drops late pictures as VLC does, wait stops as mpv and browsers do, "
            "adaptive is RobustMPC; vlc, mpv and dashjs (in Chromium) are programs."
        ),
    ] = "reference",
    transport: Annotated[
        Transport | None, typer.Option(help="mptcp if not given, tcp over a single path.")
    ] = None,
    congestion: Annotated[
        str | None,
        typer.Option(help="Any that 'skyweave algorithms list' names; Linux's CUBIC if not given."),
    ] = None,
    engine: Annotated[
        EngineName | None,
        typer.Option(
            help="sim: in virtual time, ready in seconds, without root; live: over real sockets, "
            "as long as the film. If not given: live for programs, else sim."
        ),
    ] = None,
    film: Annotated[
        str, typer.Option(help="cbr, vbr, or a frame table (FILE.csv) for reference and wait.")
    ] = "cbr",
    top: Annotated[
        float, typer.Option(help="Best of six qualities, Mbit/s, for adaptive and dashjs.")
    ] = 4.3,
    seconds: Annotated[
        float, typer.Option(help="Stop after that time, at the end of the film or not.")
    ] = 240.0,
    seed: Annotated[int, typer.Option(min=0, help="Drive of a preset, and random losses.")] = 1,
    figure: Annotated[Path | None, typer.Option(help="Draw it here (PNG).")] = None,
    record: Annotated[
        Path | None, typer.Option(help="Keep the record in this folder, which must not exist.")
    ] = None,
) -> None:
    """Play a film over emulated paths; say what a viewer sees of it.

    A film of three minutes, over all paths at once; it opens on the first one. In one file it has
    5.24 Mbit/s, for adaptive and dashjs six qualities.
    """
    _check_places(figure, record)
    paths = [parse_path(text, seed) for text in path]
    workload = {**_workload(player, film, top), "duration_s": _checked(seconds)}
    run = _run(paths, workload, transport, congestion, seed)
    chosen = engine or ("live" if player in _programs() else "sim")
    if chosen == "sim" and player in _programs():
        raise ConfigError(
            f"--player {player} is a program, which plays in real time: leave --engine sim out, or "
            "take --player reference or wait"
        )
    played = (_simulated if chosen == "sim" else _live)(run)
    facts = {**played.provenance, "run": run.model_dump(mode="json")}
    played = dataclasses.replace(played, provenance=facts)
    say(played, player)
    if figure is not None:
        _draw(figure, played, player)
    if record is not None:
        _keep(record, played)


def _run(
    paths: list[config.Path],
    workload: dict[str, Any],
    transport: Transport | None,
    congestion: str | None,
    seed: int,
) -> config.Run:
    names = [one.name for one in paths]
    twice = next((name for name in names if names.count(name) > 1), None)
    if twice is not None:
        raise ConfigError(f"two paths are called '{twice}'; give each its own name")
    transport = transport or ("mptcp" if len(paths) > 1 else "tcp")
    if transport == "tcp" and len(paths) > 1:
        raise ConfigError(
            f"--transport tcp uses one path, and there are {len(paths)}; take mptcp or mpquic, or "
            "leave all but one --path out"
        )
    over_quic = transport == "mpquic"
    rules: dict[str, Any] = {} if over_quic else {"mode": "upstream", "scheduler": "upstream"}
    connection = config.Connection.model_validate(
        {
            "transport": transport,
            "congestion": congestion or ("cubic" if over_quic else "cubic-linux"),
            "workload": workload,
            **rules,
            **_BUFFERS,
        }
    )
    workloads.check(connection.workload)
    stop_after_s = workload["duration_s"]
    return config.Run(
        paths=tuple(paths), connections=(connection,), seed=seed, stop_after_s=stop_after_s
    )


def _checked(seconds: float) -> float:
    if not 0 < seconds <= _LONGEST_S:
        raise ConfigError(f"--seconds {seconds:g}: must be more than 0 and at most {_LONGEST_S:g}")
    return seconds


def _workload(player: Player, film: str, top: float) -> dict[str, Any]:
    """Return what is played, but for how long."""
    from skyweave.video import check_ladder
    from skyweave.video.ladder import CHUNK_S, rates_kbps

    if player not in ("adaptive", "dashjs"):
        own = "discard" if player == "reference" else player
        return {"kind": "video", "player": own, "film": _film(film, player)}
    if film != "cbr":
        raise ConfigError(f"--film {film}: --player {player} plays six qualities; take --top alone")
    check_ladder(top, _FILM_S)
    common = {"kind": "adaptive", "film_s": _FILM_S}
    if player == "dashjs":
        return {**common, "player": player, "top_mbps": top}
    ladder_mbps = [rate / 1000 for rate in rates_kbps(top)]
    return {**common, "abr": "robust-mpc", "ladder_mbps": ladder_mbps, "chunk_s": float(CHUNK_S)}


def _programs() -> set[str]:
    return {name for names in workloads.PROGRAMS.values() for name in names}


def _film(film: str, player: Player) -> str | dict[str, str]:
    """Return a film as a workload names it; what needs ffmpeg is made now."""
    from skyweave.video import film as made
    from skyweave.video import kinds

    if film == "cbr" or (film in kinds() and player in _programs()):
        return film
    if film in kinds():
        with Console(stderr=True).status(f"making the film '{film}'"):
            return frame_table(made(film).frames)
    if not film.endswith(".csv"):
        known = ", ".join(kinds())
        raise ConfigError(f"--film {film}: is none of {known}, nor a frame table (FILE.csv)")
    if player in _programs():
        raise ConfigError(f"--film {film}: --player {player} plays {' or '.join(kinds())} alone")
    return frame_table(Path(film))


def _simulated(run: config.Run) -> Record:
    with Console(stderr=True).status("playing in the simulator"):
        return simulate(run)


def _live(run: config.Run) -> Record:
    """Play in real time; what a player writes while it plays is what the progress shows."""
    from skyweave.live.check import refusal
    from skyweave.live.engine import run_live

    reason = refusal(run)
    if reason is not None:
        raise ConfigError(reason)
    _made_before(run)
    out = Path(tempfile.mkdtemp(prefix="skyweave-player-"))
    try:
        with playing(Console(stderr=True), out, run.stop_after_s):
            found = run_live(run, out=out)
    except KeyboardInterrupt as stopped:
        raise Interrupted(f"stopped; what the player recorded until then is in {out}") from stopped
    shutil.rmtree(out, ignore_errors=True)
    return found


def _made_before(run: config.Run) -> None:
    """Let ffmpeg make the film before the clock of the progress runs."""
    from skyweave.live.traffic import offers

    workload = run.connections[0].workload
    if workloads.program_of(workload) is not None:
        with Console(stderr=True).status("making the film"):
            offers.of(workload)


def _check_places(figure: Path | None, record: Path | None) -> None:
    """Refuse places before anything plays, so that nothing is lost."""
    if figure is not None and figure.suffix.lower() != ".png":
        raise ConfigError(f"--figure {figure}: figures are PNG; end its name in .png")
    if record is not None and os.path.lexists(record):
        raise ConfigError(f"--record {record}: is there already; name a folder that is not")


def _draw(place: Path, played: Record, player: str) -> None:
    from skyweave.plotting.style import drawing, png_bytes
    from skyweave.report.figures.viewer import viewer_figure

    with drawing("video-play"):
        write_bytes(place, png_bytes(viewer_figure(played, title_of(played, player))))


def _keep(folder: Path, played: Record) -> None:
    try:
        played.write(folder)
    except OSError as error:
        raise ConfigError(
            f"--record {folder}: cannot be written ({error.strerror}); choose another place"
        ) from error
