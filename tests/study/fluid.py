"""A fluid engine for tests: a connection gets what its paths can carry, minus a little.

No packets, no congestion control: only a stand-in that fills every column of a record.
"""

from __future__ import annotations

from typing import Any

import numpy as np
import polars as pl

from skyweave.model import config
from skyweave.model.drive import Drive, PathTrace, Series
from skyweave.model.record import EVENT_SCHEMA, SAMPLE_SCHEMA, Record
from skyweave.synthesis.preset import Preset

STEP_S = 0.1


def rate_at(capacity: config.Capacity, times_s: np.ndarray) -> np.ndarray:
    """Capacity in Mbit/s just before each time."""
    if isinstance(capacity, config.ConstantRate):
        return np.full(len(times_s), capacity.mbps)
    assert isinstance(capacity, config.RateSteps)
    index = np.searchsorted(capacity.times_s, times_s - STEP_S / 2, side="right") - 1
    return np.asarray(capacity.mbps)[np.maximum(index, 0)]


def fluid(run: config.Run) -> Record:
    """Fill a record with 98 % of the capacity of TCP's path, 96 % of the sum for several."""
    connection = run.connections[0]
    direction = connection.workload.direction
    steps = round(run.stop_after_s / STEP_S)
    times = np.arange(1, steps + 1) * STEP_S
    rates = {p.name: rate_at(getattr(p, direction).capacity, times) for p in run.paths}
    share = 0.98 if len(rates) == 1 else 0.96
    ramp = np.minimum(times / 0.5, 1.0)
    frames = [
        _frame(times, name, {"delivered_bytes": np.cumsum(share * rate * STEP_S / 8e-6)})
        for name, rate in rates.items()
    ]
    goodput = ramp * share * np.sum(list(rates.values()), axis=0)
    frames.append(_frame(times, "", {"goodput_mbps": goodput, "reorder_buffer_bytes": times * 0}))
    total = float(goodput.sum() * STEP_S / 8e-6)
    return Record(
        samples=pl.concat(frames).sort("time_s", maintain_order=True),
        events=pl.DataFrame(schema=EVENT_SCHEMA),
        totals={
            "simulated_s": run.stop_after_s,
            "link_packets": round(total / 1500),
            "connections": [{"transport": connection.transport, "delivered_bytes": total}],
        },
        provenance={"engine": "fluid", "seed": run.seed},
    )


def _frame(times: np.ndarray, path: str, values: dict[str, Any]) -> pl.DataFrame:
    columns: dict[str, Any] = {name: [None] * len(times) for name in SAMPLE_SCHEMA}
    columns |= {"time_s": times, "connection": [0] * len(times), "path": [path] * len(times)}
    return pl.DataFrame(columns | values, schema=SAMPLE_SCHEMA)


MEDIANS = {
    "alaska": {"SL": 64.0, "VZ": 15.0, "AT": 23.0},
    "hawaii": {"SL": 71.0, "VZ": 20.0, "AT": 24.0, "TM": 120.0},
    "starlink-fixed": {"starlink": 17.0},
    "midwest": {"starlink": 134.0, "att": 42.0, "tmobile": 69.0, "verizon": 81.0},
}


def synthesise(preset: str | Preset, seed: int, duration_s: float) -> Drive:
    """A made-up drive: slow log-normal swings, gaps on cellular paths, RTTs that jump at 60 %."""
    preset = preset if isinstance(preset, str) else preset.name
    paths = {}
    for number, (name, median) in enumerate(MEDIANS[preset].items()):
        rng = np.random.default_rng([seed, number, len(preset)])
        times = np.arange(int(duration_s), dtype=float)
        swing = np.repeat(rng.normal(0.0, 0.8, int(duration_s) // 10 + 1), 10)[: len(times)]
        rates = median * np.exp(swing + rng.normal(0.0, 0.3, len(times)))
        start = int(rng.integers(0, max(int(duration_s) - 8, 1)))
        rates[start : start + int(rng.integers(0, 2 if number == 0 else 8))] = 0.0
        jump = np.where(np.arange(len(times)) == int(0.6 * len(times)), 3.0, 1.0)
        paths[name] = PathTrace(
            downlink_mbps=Series(times, rates),
            uplink_mbps=Series(times, rates * 0.15),
            rtt_ms=Series(times, jump * (50.0 + 10 * number)),
            loss_ratio=Series(times, np.zeros(len(times))),
        )
    return Drive(f"{preset}-{seed}", f"made up for tests, seed {seed}", paths, synthetic=True)


def load(path: Any, _format: str | None = None) -> list[Drive]:
    """One drive of 65 s from any file; path VZ is not logged for 5 s, AT has no uplink."""
    times = np.arange(65.0)
    rates = np.full(65, 30.0)
    rates[10:15] = np.nan
    return [
        Drive(
            name=path.stem,
            origin=f"file {path.name}",
            paths={
                "mob": PathTrace(downlink_mbps=Series(times, 80.0 + times)),
                "VZ": PathTrace(downlink_mbps=Series(times, rates)),
            },
        )
    ]


SMALL = """
[study]
name = "small"
title = "A small study"

[[drives]]
name = "alaska"
preset = "alaska"
seeds = 2
duration_s = 10

[paths.SL]
kind = "satellite"
rtt_ms = 40

[paths.VZ]
kind = "cellular"
rtt_ms = "trace"

[settings]
congestion = "bbr"
allow_dead_paths = true

[[compare]]
paths = ["singles", "pairs"]
"""
"""Two drives, two paths, one pair: six runs."""


def options(out: Any, **changed: Any) -> Any:
    """StudyOptions that run a study on the fluid engine, quietly."""
    from skyweave.study.compile.drives import Makers
    from skyweave.study.run.session import StudyOptions

    usual = {
        "engine": fluid,
        "makers": Makers(synthesise, load),
        "code_version": "test",
        "jobs": 1,
    }
    return StudyOptions(out=out, **(usual | changed))


def tree(folder: Any) -> dict[str, bytes]:
    """Every file below a folder with its bytes."""
    files = sorted(path for path in folder.rglob("*") if path.is_file())
    return {str(path.relative_to(folder)): path.read_bytes() for path in files}
