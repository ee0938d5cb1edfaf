"""Fresh delivery curves: films as the simulator delivers them in the cells of VIDEO-LEO.

Seeds from 3001 on: no study and no calibration uses them.
"""

from __future__ import annotations

import json
import tempfile
from pathlib import Path

import polars as pl

import skyweave as sw
from skyweave.study.run.session import StudyOptions, prepare
from skyweave.video import film
from skyweave.video.curve_server import Curve

REPOSITORY = Path(__file__).parents[2]
FIRST_SEED = 3001
SAMPLE_MS = 5
CELLS = [
    ("A90", "wire+LTE", "cubic-linux", 12),
    ("B90", "wire+SL", "cubic-linux", 12),
    ("A60", "wire+LTE", "cubic-linux", 2),
    ("B60", "wire+SL", "cubic-linux", 2),
    ("B90", "wire+SL", "bbr", 2),
    ("C", "SL+LTE", "cubic-linux", 2),
    ("C", "LTE+SL", "bbr", 2),
]
"""Drives, paths, control, seeds: most are of the cells in which films stop."""


def make(out: Path) -> list[Path]:
    """Write a file for each cell, seed and film that is not there yet; return all of them."""
    out.mkdir(parents=True, exist_ok=True)
    most = max(count for _, _, _, count in CELLS)
    text = (REPOSITORY / "studies/video-leo/study.toml").read_text()
    text = text.replace("seeds = 30", f"seeds = {most}\nfirst_seed = {FIRST_SEED}")
    with tempfile.TemporaryDirectory() as folder:
        study = Path(folder) / "study.toml"
        study.write_text(text.replace('published = "published.toml"\n', ""))
        jobs = prepare(study, StudyOptions(out=Path(folder) / "out")).jobs
    return [
        _make(out, job.run, cell, job.labels["seed"], kind)
        for cell in CELLS
        for job in jobs
        if (job.labels["drives"], job.labels["paths"], job.labels["congestion"]) == cell[:3]
        and job.labels["seed"] < FIRST_SEED + cell[3]
        for kind in ("cbr", "vbr")
    ]


def _make(out: Path, run: sw.Run, cell: tuple[str, str, str, int], seed: int, kind: str) -> Path:
    drives, _, control, _ = cell
    file = out / f"{drives}-{control}-{seed}-{kind}.json"
    if file.is_file():
        return file
    (connection,) = run.connections
    table = {"csv": film(kind).frames.read_text()}
    workload = connection.workload.model_copy(update={"film": table})
    run = run.model_copy(
        update={
            "sample_interval_ms": SAMPLE_MS,
            "connections": (connection.model_copy(update={"workload": workload}),),
        }
    )
    samples = sw.simulate(run).samples.filter(pl.col("path") == "").sort("time_s")
    samples = samples.filter(pl.col("delivered_bytes").diff().fill_null(1) > 0)
    received = [int(count) for count in samples["delivered_bytes"]]
    if received[-1] == _last_picture(film(kind).frames):
        # The table ends with the last picture, the file with a little sound.
        received[-1] = film(kind).file.stat().st_size
    curve = {
        "cell": f"{drives} {control}",
        "seed": seed,
        "film": kind,
        "times_s": [round(time, 4) for time in samples["time_s"]],
        "received": received,
    }
    file.write_text(json.dumps(curve))
    return file


def _last_picture(frames: Path) -> int:
    rows = [line.split(",") for line in frames.read_text().splitlines() if line.startswith("0,")]
    return max(int(row[3]) + int(row[4]) for row in rows)


def read(file: Path) -> Curve:
    """Return the curve of a file."""
    found = json.loads(file.read_text())
    return Curve(found["times_s"], found["received"])
