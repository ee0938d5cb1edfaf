"""Holds the reference players against real ones: ``tests/players/judge.py OUT EVIDENCE.json``.

OUT is what ``run.py`` wrote. Each curve is replayed by the reference player (``cargo run --example
replay``); rows say what both saw. What was chosen by looking at play-outs was chosen on the seeds
of ``CHOSEN_ON``; bands are judged on the others.
"""

from __future__ import annotations

import argparse
import functools
import json
import subprocess
from pathlib import Path
from typing import Any

from skyweave.video import film

REPOSITORY = Path(__file__).parents[2]
CHOSEN_ON = (3001, 3002, 3005, 3006)
PLAYERS = {"vlc": "discard", "mpv": "wait"}
COMMAND = "tests/players/run.py OUT --jobs 6; tests/players/judge.py OUT EVIDENCE.json"
LATE_MS = 20.0
"""A row whose server or player was woken later than this (p99) is marked as polluted."""


def main() -> None:
    """Judge, print a table, write the evidence."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("out", type=Path)
    parser.add_argument("evidence", type=Path, nargs="?")
    args = parser.parse_args()
    found = [json.loads(file.read_text()) for file in sorted(args.out.glob("*/row.json"))]
    rows = [compared(row, args.out) for row in found]
    bands = [
        {"player": player, "seeds": half, "of": of, **_bands(player, chosen)}
        for player in PLAYERS
        for half in ("chosen on", "fresh")
        for of in ("all rows", "rows on time")
        if (chosen := [row for row in rows if _is(row, player, half, of)])
    ]
    for row in rows:
        print(*(f"{value!s:>9}" for value in _short(row)))
    for band in bands:
        print(json.dumps(band))
    if args.evidence:
        evidence = {"command": COMMAND, "commit": _commit(), "bands": bands, "rows": rows}
        args.evidence.write_text(json.dumps(evidence, indent=1) + "\n")


def _commit() -> str:
    said = ["git", "-C", str(REPOSITORY), "rev-parse", "HEAD"]
    return subprocess.run(said, capture_output=True, text=True, check=True).stdout.strip()


def _is(row: dict[str, Any], player: str, half: str, of: str) -> bool:
    chosen = row["seed"] in CHOSEN_ON
    wanted = row["player"] == player and chosen == (half == "chosen on")
    return bool(wanted and not (of == "rows on time" and row["polluted"]))


def compared(row: dict[str, Any], out: Path) -> dict[str, Any]:
    """Return what the real player saw, and the reference player on the same curve."""
    summary, processor = row["summary"], row["summary"]["processor"]
    # The reference player begins with the request, the session with the order to play.
    began_s = _asked_ns(out / f"{row['player']}-{row['curve']}") / 1e9
    end_s = row["duration_s"] - (row["began_ns"] / 1e9 - began_s)
    held = str(row["threads"]) if row["player"] == "vlc" else "-"
    argv = [
        str(_replay()),
        str(film(row["film"]).frames),
        str(out / "curves" / f"{row['curve']}.json"),
        PLAYERS[row["player"]],
        held,
        str(end_s),
    ]
    ours = json.loads(subprocess.run(argv, capture_output=True, text=True, check=True).stdout)
    names = ("startup_s", "underflows", "discarded", "stall_s")
    return {
        **{name: row[name] for name in ("player", "cell", "seed", "film", "threads", "duration_s")},
        "real": {name: _rounded(summary[name]) for name in names},
        "reference": {name: _rounded(ours[name]) for name in names},
        "player_share": processor["player_share"],
        "machine_share": processor["machine_share"],
        "player_late_p99_ms": processor["lateness_p99_ms"],
        "server_late_p99_ms": row["server_late_p99_ms"],
        "polluted": max(processor["lateness_p99_ms"], row["server_late_p99_ms"]) > LATE_MS,
    }


@functools.cache
def _replay() -> Path:
    build = ["cargo", "build", "--quiet", "--release", "--locked", "-p", "skyweave-video"]
    subprocess.run([*build, "--example", "replay"], cwd=REPOSITORY, check=True)
    return REPOSITORY / "target/release/examples/replay"


def _asked_ns(folder: Path) -> int:
    with (folder / "playback.jsonl").open() as lines:
        return int(json.loads(next(lines))["monotonic_ns"])


def _rounded(value: float | None) -> float | None:
    return None if value is None else round(value, 3)


def _short(row: dict[str, Any]) -> list[object]:
    pairs = [
        f"{row['real'][name]}/{row['reference'][name]}"
        for name in ("startup_s", "underflows", "discarded", "stall_s")
    ]
    head = [row["player"], row["cell"][:7], row["seed"], row["film"], row["threads"]]
    return [*head, *pairs, row["server_late_p99_ms"], row["player_late_p99_ms"]]


def _bands(player: str, rows: list[dict[str, Any]]) -> dict[str, Any]:
    """Return the shares of rows within the bands, and stall over all of them."""
    real = [row["real"] for row in rows]
    ours = [row["reference"] for row in rows]
    pairs = list(zip(real, ours, strict=True))
    stall = sum(one["stall_s"] for one in real), sum(one["stall_s"] for one in ours)
    return {
        "rows": len(rows),
        "polluted": sum(row["polluted"] for row in rows),
        "startup_within_0.5_s": _share(
            abs(a["startup_s"] - b["startup_s"]) <= 0.5 for a, b in pairs
        ),
        "underflows_within_2_or_25": _share(alike_underflows(a, b) for a, b in pairs),
        # What mpv drops, it drops because the processor was too slow.
        "discards_within_1.5": _share(_alike(a["discarded"], b["discarded"]) for a, b in pairs)
        if player == "vlc"
        else None,
        "stall_s": [round(one, 2) for one in stall],
        "stall_within_5": abs(stall[0] - stall[1]) <= 0.05 * stall[0],
        "stall_rows_within_5": _share(
            abs(a["stall_s"] - b["stall_s"]) <= max(0.05 * a["stall_s"], 0.25) for a, b in pairs
        ),
    }


def alike_underflows(real: dict[str, Any], reference: dict[str, Any]) -> bool:
    """Whether two play-outs ran dry as often, within 2 or 25 %."""
    apart = abs(real["underflows"] - reference["underflows"])
    return bool(apart <= max(2, 0.25 * real["underflows"]))


def _alike(a: int, b: int) -> bool:
    """Within a factor of 1.5; a handful on either side counts as alike."""
    return max(a, b) <= 5 or max(a, b) <= 1.5 * min(a, b)


def _share(held: Any) -> float | None:
    marks = list(held)
    return round(sum(marks) / len(marks), 3) if marks else None


if __name__ == "__main__":
    main()
