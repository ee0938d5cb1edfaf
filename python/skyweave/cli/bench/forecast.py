"""``skyweave bench forecast``: what forecasts and their way to readers cost here, never judged."""

from __future__ import annotations

import json
import os
import resource
import statistics
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable
from pathlib import Path
from typing import Annotated

import numpy as np
import typer

from skyweave.awareness.hint import Hint
from skyweave.awareness.page import PageReader, PageWriter
from skyweave.awareness.publisher import Publisher
from skyweave.cli.bench.figures import say_figures
from skyweave.data.writers import write_text
from skyweave.forecast.measurement import measurement
from skyweave.forecast.predictors import Seconds, Target, in_seconds, predictor, walk
from skyweave.forecast.predictors.online import Forecaster
from skyweave.forecast.predictors.train import train

ROWS = 20_000
TARGET = Target("mean", 15)
REPETITIONS = 5
READERS, DEAF = 90, 10
WARM, EVENTS = 500, 3000
SPACING_S = 0.01

_MEANING = {
    "fit_20000_s": "slot-linear learns one target from 20,000 s, features there; s of a core",
    "train_20000_s": "the same with its errors on the last fifth, for bands and for giving way",
    "features_20000_s": "what is seen at each of 20,000 s, for all targets of a series",
    "predict_us": "one target by its model",
    "served_us": "a second comes in, all is learned from it, one target with its band",
    "page_write_us": "a hint into shared memory, from Python",
    "page_read_us": "the same out of it, from Python, file opened anew",
    "hint_p50_ms": "from publish() to a reader in another process, 90 that read and 10 that do not",
    "hint_p99_ms": "the same, 99th percentile over all events and readers",
    "hint_max_ms": "the same, at most",
    "events_per_reader": "how many events each of the 90 got, of 3,000",
    "deaf_lost_rows": "rows that the 10 who never read have lost",
    "rss_growth_mb": "growth of the publisher's memory over the last 2,500 events",
    "load": "how many processes wanted this machine's cores meanwhile",
}


def bench_forecast(
    as_json: Annotated[bool, typer.Option("--json", help="Print one JSON object.")] = False,
    out: Annotated[
        Path | None, typer.Option(help="Write the figures here, with how they were made (JSON).")
    ] = None,
) -> None:
    """Measure forecasts: learning, predicting, and the way of a hint to a hundred readers."""
    found = measure_forecast()
    if out is not None:
        asked = subprocess.run(
            ["git", "rev-parse", "--short", "HEAD"], capture_output=True, text=True, check=False,
            cwd=Path(__file__).parent,
        )  # fmt: skip
        first = "chrt -f 10 " if os.sched_getscheduler(0) == os.SCHED_FIFO else ""
        command = f"{first}skyweave bench forecast --out {out.name}"
        origin = {"command": command, "commit": asked.stdout.strip() or None}
        write_text(out, json.dumps(origin | found, indent=1) + "\n")
    say_figures(found, _MEANING, as_json)


def measure_forecast() -> dict[str, float]:
    """Measure; the keys are those of ``skyweave bench forecast --json``."""
    with tempfile.TemporaryDirectory() as folder:
        return {
            **_learning(), **_pages(Path(folder)), **_readers(Path(folder) / "socket"),
            "load": os.getloadavg()[0],
        }  # fmt: skip


def _series() -> Seconds:
    """Return rates with slots, long enough for all rows to have come true."""
    random = np.random.default_rng(1)
    seconds = 1_777_593_600 + np.arange(ROWS + TARGET.ahead_s)
    levels = random.gamma(4.0, 25.0, len(seconds) // 15 + 2)[(seconds - seconds[0]) // 15]
    noise = random.normal(0.0, 10.0, len(seconds))
    return in_seconds(measurement("made up", "throughput", seconds, np.maximum(levels + noise, 0)))


def _learning() -> dict[str, float]:
    series, chosen = _series(), predictor("slot-linear")
    came = TARGET.values(series)
    rows = walk(series)
    fit_rows, fit_came = rows.part(slice(0, ROWS)), came[:ROWS]
    trained = train(chosen, rows, TARGET, came)
    forecaster = Forecaster([trained], rows.period_s, edge_s=12)
    for second, value in zip(series.seconds[:600].tolist(), series.values[:600], strict=True):
        forecaster.update(second, float(value))
        forecaster.predict()
    last = int(series.seconds[600])
    pairs = iter([(last + place, 50.0 + place % 40) for place in range(6000)])

    def serve() -> None:
        forecaster.update(*next(pairs))
        forecaster.predict()

    features = rows.features[0]
    return {
        "fit_20000_s": _median_s(lambda: chosen.fit(fit_rows, TARGET, fit_came)),
        "train_20000_s": _median_s(lambda: train(chosen, rows, TARGET, came)),
        "features_20000_s": _median_s(lambda: walk(series)),
        "predict_us": 1e6 * _each_s(lambda: trained.model.predict(features, 3)),
        "served_us": 1e6 * _each_s(serve),
    }


def _pages(folder: Path) -> dict[str, float]:
    now = time.monotonic_ns()
    hint = Hint(now, now + 60 * 10**9, rtt_ms=(30.0, 40.0, 90.0))
    with PageWriter(folder / "a.page") as writer:
        reader = PageReader(writer.file)
        return {
            "page_write_us": 1e6 * _each_s(lambda: writer.write(hint)),
            "page_read_us": 1e6 * _each_s(lambda: reader.read(now + 1)),
        }


def _readers(name: Path) -> dict[str, float]:
    """Publish to readers in another process; those who are deaf never read."""
    arguments = [str(name), str(READERS), str(DEAF), str(WARM)]
    with Publisher(name) as publisher:
        child = subprocess.Popen(
            [sys.executable, "-m", "skyweave.cli.bench.forecast_readers", *arguments],
            stdout=subprocess.PIPE, text=True,
        )  # fmt: skip
        while publisher.readers < READERS + DEAF and child.poll() is None:
            time.sleep(0.01)
        warm_mb = 0.0
        for number in range(EVENTS):
            publisher.publish("forecasts", {"sent_ns": time.monotonic_ns(), "text": "x" * 2000})
            if number == WARM:
                warm_mb = _rss_mb()
            time.sleep(SPACING_S)
        growth, lost = _rss_mb() - warm_mb, float(publisher.lost_rows)
    said, _ = child.communicate()  # they end with the publisher
    found: dict[str, float] = json.loads(said)
    return found | {"deaf_lost_rows": lost, "rss_growth_mb": growth}


def _rss_mb() -> float:
    pages = int(Path("/proc/self/statm").read_text().split()[1])
    return pages * resource.getpagesize() / 1e6


def _median_s(work: Callable[[], object]) -> float:
    """Return what some work costs of one core: what else the machine does is not in it."""

    def once() -> float:
        begin = time.process_time()
        work()
        return time.process_time() - begin

    return statistics.median(once() for _ in range(REPETITIONS))


def _each_s(work: Callable[[], object], count: int = 1000) -> float:
    def many() -> None:
        for _ in range(count):
            work()

    return _median_s(many) / count
