"""Plays every curve with VLC and with mpv: ``python tests/players/run.py OUT --jobs 6``.

Each play-out is a folder of OUT: what the player's driver writes, and ``row.json`` with what the
curve server saw. What is there already is not played again. As root the players run with real-time
priority, so that a busy machine does not make them drop pictures; how late they and the server
were woken stands in each row.
"""

from __future__ import annotations

import argparse
import contextlib
import json
import os
import subprocess
import sys
import time
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import curves

from skyweave.video import film
from skyweave.video.curve_server import CurveServer

THREADS = (1, 3)
"""Of the decoder: odd seeds have the first, even ones the second; VLC's own choice here is 3."""
STARTS, PLAYS, SERVES = 5, 10, 20
"""Real-time priorities: a player that starts does not hold up those that play."""
STOPPING_S, PLAYING_S = 150, 75
"""How long a curve is played of cells in which films stop, and of others."""


def main() -> None:
    """Play all curves, or with --one a single one."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("out", type=Path)
    parser.add_argument("--jobs", type=int, default=4)
    parser.add_argument("--one", nargs=2, metavar=("PLAYER", "CURVE"))
    args = parser.parse_args()
    if args.one:
        return _play(args.out, args.one[0], Path(args.one[1]))
    files = sorted(curves.make(args.out / "curves"), key=_order)
    wanted = [(player, file) for file in files for player in ("vlc", "mpv")]
    with ThreadPoolExecutor(args.jobs) as pool:
        list(pool.map(lambda pair: _start(args.out, *pair), wanted))
    return None


def _order(file: Path) -> tuple[int, str]:
    """Seed by seed: a series that was broken off has something of all cells."""
    return int(file.stem.split("-")[-2]), file.stem


def _start(out: Path, player: str, file: Path) -> None:
    if (out / f"{player}-{file.stem}" / "row.json").is_file():
        return
    one = [sys.executable, __file__, str(out), "--one", player, str(file)]
    done = subprocess.run(one, check=False)
    print(f"{player} {file.stem}: {'played' if done.returncode == 0 else 'FAILED'}", flush=True)


def _play(out: Path, player: str, file: Path) -> None:
    found = json.loads(file.read_text())
    threads = THREADS[(found["seed"] + 1) % 2]
    stops = found["cell"] in ("A90 cubic-linux", "B90 cubic-linux")
    duration_s = STOPPING_S if stops else PLAYING_S
    folder = out / f"{player}-{file.stem}"
    # Here and not before: what was loaded until now would hold up other play-outs.
    _raise(os.getpid(), SERVES)
    with CurveServer(film(found["film"]).file, curves.read(file)) as server:
        argv = [sys.executable, "-m", f"skyweave.video.players.{player}", server.url]
        argv += ["--out", str(folder), "--duration", str(duration_s), "--threads", str(threads)]
        with subprocess.Popen(argv) as driver:
            _raise(driver.pid, STARTS)
            while driver.poll() is None and not _plays(folder):
                time.sleep(0.2)
            _raise(driver.pid, PLAYS)
        if driver.returncode != 0:
            sys.exit(driver.returncode)
    late = sorted(server.lateness_ms) or [0.0]
    row = {
        "player": player,
        "curve": file.stem,
        "cell": found["cell"],
        "seed": found["seed"],
        "film": found["film"],
        "threads": threads,
        "duration_s": duration_s,
        "began_ns": server.began_ns,
        "server_late_p99_ms": round(late[(len(late) - 1) * 99 // 100], 2),
        "requests": [vars(request) for request in server.requests],
        "summary": json.loads((folder / "summary.json").read_text()),
    }
    (folder / "row.json").write_text(json.dumps(row, indent=1) + "\n")


def _plays(folder: Path) -> bool:
    record = folder / "playback.jsonl"
    return record.is_file() and '"event": "playing"' in record.read_text()


def _raise(process: int, priority: int) -> None:
    """Give all threads of a process and of its children a real-time priority."""
    if os.geteuid() != 0:
        return
    with contextlib.suppress(OSError):
        for thread in Path(f"/proc/{process}/task").iterdir():
            os.sched_setscheduler(int(thread.name), os.SCHED_RR, os.sched_param(priority))
            for child in (thread / "children").read_text().split():
                _raise(int(child), priority)


if __name__ == "__main__":
    main()
